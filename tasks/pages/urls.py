"""Addresses of the external HIT page."""

from django.urls import path

from tasks.pages import api, sent_work, views

urlpatterns = [
    path("", views.enter, name="hit"),
    path("consent", views.consent, name="hit_consent"),
    path("sent/<slug:receipt>/", sent_work.sent, name="hit_sent"),
    path("draft", api.draft, name="hit_draft"),
    path("submit", api.submit, name="hit_submit"),
    path("answer", api.answer, name="hit_answer"),
    path("article", api.article, name="hit_article"),
    path("extend", api.extend, name="hit_extend"),
    path("problem", api.problem, name="hit_problem"),
    path("preferences", api.preferences, name="hit_preferences"),
    path("instructions_seen", api.instructions_seen, name="hit_instructions_seen"),
]
