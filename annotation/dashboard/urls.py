"""Addresses of the requester's pages."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
