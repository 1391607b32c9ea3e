"""Addresses of the external HIT page."""

from django.urls import path

from tasks.pages import entry_views, receipt_page, worker_api

urlpatterns = [
    path("", entry_views.enter, name="hit"),
    path("consent", entry_views.consent, name="hit_consent"),
    path("sent/<slug:receipt>/", receipt_page.sent, name="hit_sent"),
    path("draft", worker_api.draft, name="hit_draft"),
    path("submit", worker_api.submit, name="hit_submit"),
    path("answer", worker_api.answer, name="hit_answer"),
    path("article", worker_api.article, name="hit_article"),
    path("extend", worker_api.extend, name="hit_extend"),
    path("problem", worker_api.problem, name="hit_problem"),
    path("preferences", worker_api.preferences, name="hit_preferences"),
    path("instructions_seen", worker_api.instructions_seen, name="hit_instructions_seen"),
]
