"""Addresses of the external HIT page."""

from django.urls import path

from tasks.pages import (
    api_views,
    entry_views,
    notice_pages,
    receipt_views,
)

# What is shown where this process does not know the protocol of the work.
cannot_be_shown = notice_pages.cannot_be_shown
urlpatterns = [
    path("", entry_views.enter, name="hit"),
    path("consent", entry_views.consent, name="hit_consent"),
    path("sent/<slug:receipt>/", receipt_views.sent, name="hit_sent"),
    path("draft", api_views.draft, name="hit_draft"),
    path("submit", api_views.submit, name="hit_submit"),
    path("answer", api_views.answer, name="hit_answer"),
    path("advice", api_views.advice, name="hit_advice"),
    path("article", api_views.article, name="hit_article"),
    path("search", api_views.search, name="hit_search"),
    path("extend", api_views.extend, name="hit_extend"),
    path("problem", api_views.problem, name="hit_problem"),
    path("preferences", api_views.preferences, name="hit_preferences"),
    path("instructions_seen", api_views.instructions_seen, name="hit_instructions_seen"),
]
