"""Addresses of the external HIT page."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
