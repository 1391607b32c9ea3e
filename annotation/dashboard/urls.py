"""Addresses of the requester's pages."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.dashboard import (
    access,
    collections,
    deciding_pay,
    money,
    problems,
    qualifications,
    questions,
    releases,
    seeds,
    stages,
    start,
    texts,
)

of_collection: list[URLPattern] = [
    path("", collections.collection, name="collection"),
    path("now/", collections.collection_now, name="collection_now"),
    path("publish/", stages.publish, name="publish"),
    path("pause/", stages.pause, name="pause"),
    path("budget/", stages.raise_budget, name="raise_budget"),
    path("stages/<slug:stage>/open/", stages.publish, name="open_stage"),
    path("stages/<slug:stage>/close/", stages.close_stage, name="close_stage"),
    path("seeds/", seeds.seeds, name="seeds"),
    path("seeds/choose/", seeds.choose_seeds, name="choose_seeds"),
    path("qualification/", qualifications.inspections, name="qualifications"),
    path("qualification/<slug:stage>/", qualifications.inspection, name="qualification"),
    path("qualification/<slug:stage>/<int:number>/", qualifications.inspection, name="submission"),
    path("qualification/<slug:stage>/<int:number>/decide/", qualifications.decide, name="decide"),
    path("questions/", questions.questions, name="questions"),
    path("questions/<slug:key>/", questions.question, name="question"),
    path("questions/<slug:key>/override/", questions.override, name="override"),
    path("money/", money.money, name="money"),
    path("money/work/", deciding_pay.assignments, name="assignments"),
    path("money/work/<int:key>/", deciding_pay.assignment, name="assignment"),
    path("money/work/<int:key>/decide/", deciding_pay.decide_pay, name="decide_pay"),
    path("money/compensate/", money.compensate_lease, name="compensate"),
    path("problems/", problems.problems, name="problems"),
    path("problems/resolve/", problems.resolve, name="resolve"),
    path("texts/", texts.texts, name="texts"),
    path("texts/<slug:name>/", texts.text, name="text"),
    path("texts/<slug:name>/<int:version>/", texts.text, name="text_version"),
    path("releases/", releases.releases, name="releases"),
    path("releases/now/", releases.releases_now, name="releases_now"),
    path("releases/make/", releases.make_release, name="make_release"),
    path("releases/<int:number>/", releases.release, name="release"),
    path("releases/<int:number>/<path:name>", releases.release_file, name="release_file"),
    path("report/", releases.report, name="report"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", start.start, name="start"),
    path("sign-in/", access.sign_in, name="sign_in"),
    path("sign-out/", access.sign_out, name="sign_out"),
    path("signed-out/", access.signed_out, name="signed_out"),
    path("collections/", collections.collections, name="collections"),
    path("collections/new/", collections.new_collection, name="new_collection"),
    path("collections/<slug:slug>/", include(of_collection)),
]
