"""Addresses of the external HIT page."""

from django.urls import path

from tasks.pages import (
    api_views as page_api,
)
from tasks.pages import (
    entry_views,
    notice_pages,
)
from tasks.pages import (
    receipt_views as receipt_page,
)

# What is shown where this process does not know the protocol of the work.
cannot_be_shown = notice_pages.cannot_be_shown
urlpatterns = [
    path("", entry_views.enter, name="hit"),
    path("consent", entry_views.consent, name="hit_consent"),
    path("sent/<slug:receipt>/", receipt_page.sent, name="hit_sent"),
    path("draft", page_api.draft, name="hit_draft"),
    path("submit", page_api.submit, name="hit_submit"),
    path("answer", page_api.answer, name="hit_answer"),
    path("advice", page_api.advice, name="hit_advice"),
    path("article", page_api.article, name="hit_article"),
    path("search", page_api.search, name="hit_search"),
    path("extend", page_api.extend, name="hit_extend"),
    path("problem", page_api.problem, name="hit_problem"),
    path("preferences", page_api.preferences, name="hit_preferences"),
    path("instructions_seen", page_api.instructions_seen, name="hit_instructions_seen"),
]
