"""Addresses of the requester's pages."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.dashboard import access, marketplace_desk
from annotation.dashboard.collections import (
    housekeeping,
    instructions,
    label_scheme,
    overview,
    previews,
    publishing,
    rehearsals,
    settings_page,
)
from annotation.dashboard.corpora import corpus_pages
from annotation.dashboard.money import assignment_pages, bonuses, ledger
from annotation.dashboard.people import (
    partner_reports,
    problem_reports,
    qualifications,
    who_may_work,
    workers,
)
from annotation.dashboard.questions import difficulty, question_pages, single_hop_review
from annotation.dashboard.releases import baseline_pages, release_pages, report, statement_page
from annotation.dashboard.seeds import candidate_pairs, candidate_sets, seed_pages

of_collection: list[URLPattern] = [
    path("", overview.collection, name="collection"),
    path("now/", overview.collection_now, name="collection_now"),
    path("publish/", publishing.publish, name="publish"),
    path("pause/", publishing.pause, name="pause"),
    path("change/", settings_page.change, name="change"),
    path("finish/", housekeeping.finish, name="finish"),
    path("reopen/", housekeeping.reopen, name="reopen"),
    path("keep/", housekeeping.housekeeping_page, name="keep"),
    path("keep/duplicate/", housekeeping.duplicate, name="duplicate"),
    path("keep/archive/", housekeeping.archive, name="archive"),
    path("keep/drop/", housekeeping.drop, name="drop"),
    path("budget/", publishing.raise_budget, name="raise_budget"),
    path("stages/<slug:stage>/open/", publishing.publish, name="open_stage"),
    path("stages/<slug:stage>/close/", publishing.close_stage, name="close_stage"),
    path("rehearse/", rehearsals.rehearsals, name="rehearsals"),
    path("rehearse/now/", rehearsals.rehearsals_now, name="rehearsals_now"),
    path("rehearse/begin/", rehearsals.begin_rehearsal, name="begin_rehearsal"),
    path("rehearse/<int:number>/", rehearsals.rehearsal, name="rehearsal"),
    path("rehearse/<int:number>/stop/", rehearsals.end_rehearsal, name="end_rehearsal"),
    path("rehearse/<int:number>/pages/<int:position>/", rehearsals.seen_page, name="seen_page"),
    path(
        "rehearse/<int:number>/pages/<int:position>/itself/",
        rehearsals.seen_page_itself,
        name="seen_page_itself",
    ),
    path("preview/<slug:stage>/", previews.preview, name="preview"),
    path("preview/<slug:stage>/check/", previews.preview_check, name="preview_check"),
    path("preview/<slug:stage>/article/", previews.preview_article, name="preview_article"),
    path("preview/<slug:stage>/search/", previews.preview_search, name="preview_search"),
    path("preview/<slug:stage>/<slug:view>/", previews.preview, name="preview_as"),
    path(
        "preview/<slug:stage>/<slug:view>/itself/", previews.preview_itself, name="preview_itself"
    ),
    path("labels/<slug:stage>/", label_scheme.label_scheme, name="label_scheme"),
    path("labels/<slug:stage>/try/", label_scheme.try_scheme, name="try_scheme"),
    path("labels/<slug:stage>/file/", label_scheme.scheme_file, name="scheme_file"),
    path("seeds/", seed_pages.seeds, name="seeds"),
    path("seeds/drop/", housekeeping.drop_seeds, name="drop_seeds"),
    path("seeds/choose/", seed_pages.choose_seeds, name="choose_seeds"),
    path("seeds/sets/", candidate_sets.candidate_sets, name="candidate_sets"),
    path("seeds/sets/add/", candidate_sets.add_candidates, name="add_candidates"),
    path("seeds/sets/<int:key>/", candidate_pairs.candidate_set, name="candidate_set"),
    path("seeds/sets/<int:key>/decide/", candidate_pairs.decide_set, name="decide_set"),
    path("seeds/sets/<int:key>/try/", candidate_pairs.try_candidate, name="try_candidate"),
    path("people/", who_may_work.people, name="people"),
    path("people/groups/", who_may_work.choose_groups, name="choose_groups"),
    path("people/let-in/", who_may_work.let_people_in, name="let_in"),
    path("people/take-back/", who_may_work.take_back, name="take_back"),
    path("qualification/", qualifications.inspections, name="qualifications"),
    path("qualification/<slug:stage>/", qualifications.inspection, name="qualification"),
    path("qualification/<slug:stage>/<int:number>/", qualifications.inspection, name="submission"),
    path("qualification/<slug:stage>/<int:number>/decide/", qualifications.decide, name="decide"),
    path("questions/", question_pages.questions, name="questions"),
    path("questions/<slug:key>/", question_pages.question, name="question"),
    path("questions/<slug:key>/article/", question_pages.linked_article, name="linked_article"),
    path("questions/<slug:key>/override/", question_pages.override, name="override"),
    path("difficulty/", difficulty.difficulty, name="difficulty"),
    path("difficulty/now/", difficulty.difficulty_now, name="difficulty_now"),
    path("difficulty/sample/", difficulty.draw_questions, name="draw_questions"),
    path("difficulty/begin/", difficulty.begin_judging, name="begin_judging"),
    path("difficulty/split/", difficulty.split_now, name="split_now"),
    path(
        "difficulty/workers/<slug:worker>/", single_hop_review.sampled_worker, name="sampled_worker"
    ),
    path(
        "difficulty/workers/<slug:worker>/mark/", single_hop_review.mark_sample, name="mark_sample"
    ),
    path("money/", ledger.money, name="money"),
    path("money/work/", assignment_pages.assignments, name="assignments"),
    path("money/work/<int:key>/", assignment_pages.assignment, name="assignment"),
    path("money/work/<int:key>/decide/", assignment_pages.decide_pay, name="decide_pay"),
    path("money/work/<int:key>/bonus/", bonuses.give_bonus, name="give_bonus"),
    path("money/find/", bonuses.find_bonuses, name="find_bonuses"),
    path("money/bonus/", ledger.decide_bonus, name="decide_bonus"),
    path("money/compensate/", ledger.compensate_lease, name="compensate"),
    path("workers/<int:number>/", workers.worker, name="worker"),
    path("workers/<int:number>/leave-out/", workers.leave_out_worker, name="leave_out"),
    path("problems/", problem_reports.problems, name="problems"),
    path("problems/resolve/", problem_reports.resolve, name="resolve"),
    path("problems/answer/", problem_reports.answer_report, name="answer_report"),
    path("problems/partners/", partner_reports.partners, name="partners"),
    path("problems/partners/decide/", partner_reports.decide_report, name="decide_report"),
    path("texts/", instructions.texts, name="texts"),
    path("texts/<slug:name>/", instructions.text, name="text"),
    path("texts/<slug:name>/<int:version>/", instructions.text, name="text_version"),
    path("releases/", release_pages.releases, name="releases"),
    path("releases/now/", release_pages.releases_now, name="releases_now"),
    path("releases/make/", release_pages.make_release, name="make_release"),
    path("releases/said/", statement_page.statements, name="statements"),
    path("releases/<int:number>/", release_pages.release, name="release"),
    path("releases/<int:number>/readme/", release_pages.release_card, name="release_card"),
    path("releases/<int:number>/changes/", release_pages.release_changes, name="release_changes"),
    path("releases/<int:number>/zip/", release_pages.release_zip, name="release_zip"),
    path("releases/<int:number>/baselines/", baseline_pages.baselines, name="baselines"),
    path(
        "releases/<int:number>/baselines/now/", baseline_pages.baselines_now, name="baselines_now"
    ),
    path(
        "releases/<int:number>/baselines/begin/",
        baseline_pages.begin_baseline,
        name="begin_baseline",
    ),
    path(
        "releases/<int:number>/baselines/<int:run>/stop/",
        baseline_pages.end_baseline,
        name="end_baseline",
    ),
    path("releases/<int:number>/<path:name>", release_pages.release_file, name="release_file"),
    path("report/", report.report, name="report"),
    path("report/<str:file>", report.report_file, name="report_file"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.start, name="start"),
    path("sign-in/", access.sign_in, name="sign_in"),
    path("sign-out/", access.sign_out, name="sign_out"),
    path("signed-out/", access.signed_out, name="signed_out"),
    path("marketplace/", marketplace_desk.marketplace_desk, name="marketplace_desk"),
    path("accounts/", access.accounts, name="accounts"),
    path("accounts/make/", access.make_account, name="make_account"),
    path("corpora/", corpus_pages.corpora, name="corpora"),
    path("corpora/new/", corpus_pages.upload, name="upload"),
    path("corpora/<slug:slug>/", corpus_pages.corpus, name="corpus"),
    path("corpora/<slug:slug>/now/", corpus_pages.corpus_now, name="corpus_now"),
    path("corpora/<slug:slug>/add/", corpus_pages.upload, name="upload_into"),
    path("corpora/<slug:slug>/documents/<int:number>/", corpus_pages.document, name="document"),
    path("collections/", overview.collections, name="collections"),
    path("collections/new/", overview.new_collection, name="new_collection"),
    path("collections/<slug:slug>/", include(of_collection)),
]
