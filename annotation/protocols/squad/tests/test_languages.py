"""Corpora of other scripts run through it to a release."""

from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.squad.tests.conftest import WRITER, publish_small
from annotation.protocols.squad.tests.test_whole_way import questions_of, release
from annotation.reports.collection import tables_of
from collector.models import Article, Corpus, Paragraph, Section
from tests.page_workers import Person, look

pytestmark = pytest.mark.django_db
# Six texts each, of words of their own.
TEXTS = {
    "zh": (
        "石桥建于一九〇三年，由当地石匠用花岗岩修成，横跨清水河，至今仍有行人每日往来其上，桥头立着一块旧碑。",
        "灯塔位于北部海角，高三十七米，第一任看守人名叫陈海，他在塔内住了二十六年，写下许多航海日记。",
        "磨坊属于林氏两兄弟，每逢秋收便昼夜运转，后来一场大火烧毁了屋顶，村民们花了半年时间才把它重建。",
        "渡船每天清晨六点从东岸出发，可载八十名乘客与十辆马车，自从铁路开通以后，乘客逐渐减少，终于停航。",
        "学校创办于清末，最初仅有十二名学生和一位教师，课程包括算术与地理，如今已发展成有上千人的中学。",
        "茶园面积约五百亩，种植的品种来自福建，春天采摘的嫩叶最为名贵，常被送往省城的拍卖会高价出售。",
    ),
    "ja": (
        "石橋は一九〇三年に地元の石工が花崗岩で築いたもので、川をまたいで今も毎日多くの人が渡っている。",
        "灯台は北の岬に立ち、高さは三十七メートルで、初代の灯台守は二十六年間そこに住み日記を書き残した。",
        "水車小屋は二人の兄弟のもので、秋の収穫の頃には昼夜回り続けたが、火事で屋根が焼け落ちてしまった。",
        "渡し船は毎朝六時に東岸を出て、八十人の乗客を運べたが、鉄道が開通すると客が減り、やがて廃止された。",
        "学校は明治の初めに創立され、最初は生徒十二人と教師一人だけで、算術と地理を教えていたと伝えられる。",
        "茶畑の広さはおよそ五百畝あり、春に摘まれる若葉が最も高価で、都の競りで高い値段で売られることが多い。",
    ),
    "ar": (
        "بُني الجسر الحجري عام 1903 على يد بنائين محليين من الغرانيت وما زال الناس يعبرونه كل يوم.",
        "تقع المنارة على الرأس الشمالي ويبلغ ارتفاعها سبعة وثلاثين متراً وسكنها حارس عشرين عاماً.",
        "كانت الطاحونة ملكاً لأخوين وتعمل ليل نهار في موسم الحصاد حتى أحرقت النار سقفها ذات شتاء.",
        "تغادر العبّارة الضفة الشرقية في السادسة وتحمل ثمانين راكباً ثم توقفت بعد افتتاح السكة.",
        "تأسست المدرسة باثني عشر تلميذاً ومعلم واحد يدرّس الحساب والجغرافيا ثم صارت ثانوية كبيرة.",
        "تبلغ مساحة البستان خمسمئة فدان وتباع أوراق الشاي الربيعية بأسعار مرتفعة في مزاد العاصمة.",
    ),
    "hi": (
        "पत्थर का पुल 1903 में स्थानीय कारीगरों ने ग्रेनाइट से बनाया और लोग आज भी रोज़ उससे नदी पार करते हैं।",
        "प्रकाशस्तंभ उत्तरी अंतरीप पर है, उसकी ऊँचाई सैंतीस मीटर है और पहला रखवाला वहाँ छब्बीस साल रहा।",
        "चक्की दो भाइयों की थी और फ़सल के समय दिन रात चलती थी, फिर एक आग ने उसकी छत जला दी।",
        "नाव हर सुबह छह बजे पूर्वी तट से चलती थी और अस्सी यात्री ले जाती थी, रेल आने पर बंद हो गई।",
        "विद्यालय बारह छात्रों और एक अध्यापक से शुरू हुआ जो गणित और भूगोल पढ़ाते थे, अब वहाँ हज़ार बच्चे हैं।",
        "चाय का बाग़ान पाँच सौ एकड़ में फैला है और वसंत की पत्तियाँ राजधानी की नीलामी में महँगी बिकती हैं।",
    ),
}


def make(language: str) -> Corpus:
    """Return a corpus of six articles in a language."""
    corpus = Corpus.objects.create(slug="own", name="Own", language=language, state="ready")
    for number, text in enumerate(TEXTS[language]):
        title = text[:8].strip()
        article = Article.objects.create(corpus=corpus, page_id=number, title=title, revision_id=1)
        section = Section.objects.create(article=article, position=0, level=1, heading="")
        Paragraph.objects.create(article=article, section=section, position=0, text=text)
    return corpus


@pytest.mark.parametrize("language", TEXTS)
def test_it_runs_to_a_release_in_any_script(
    language: str, tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    collection = publish_small(make(language).slug, 6, tmp_path, settings, monkeypatch)
    assert Person(WRITER, collection).work("question") == 6
    look(collection)
    for name in ("AEDITH", "AIDA"):
        Person(name, collection).work("answer")
    files = release(collection, tmp_path / "out")
    for file in files.values():
        asked = questions_of(file)
        assert asked
        for question, context in asked:
            for mark in question["answers"] or question["plausible_answers"]:
                start = mark["answer_start"]
                assert context[start : start + len(mark["text"])] == mark["text"]
    [size] = [table for table in tables_of(collection) if table.name == "size"]
    words = {row[0]: row[1] for row in size.rows}
    assert 0 < max(value for value in words.values() if isinstance(value, float)) < 200
