"""Gardens and plants with Django REST Framework JSON:API and SQLite."""

import os

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="only for this machine",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="gardens.urls",
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django_filters",
        "rest_framework",
        "rest_framework_json_api",
        "gardens",
    ],
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{os.environ['DATA']}/gardens.db"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "UNAUTHENTICATED_USER": None,
        "EXCEPTION_HANDLER": "rest_framework_json_api.exceptions.exception_handler",
        "DEFAULT_PAGINATION_CLASS": "rest_framework_json_api.pagination.JsonApiPageNumberPagination",
        "DEFAULT_PARSER_CLASSES": ["rest_framework_json_api.parsers.JSONParser"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework_json_api.renderers.JSONRenderer"],
        "DEFAULT_METADATA_CLASS": "rest_framework_json_api.metadata.JSONAPIMetadata",
        "DEFAULT_FILTER_BACKENDS": [
            "rest_framework_json_api.filters.QueryParameterValidationFilter",
            "rest_framework_json_api.filters.OrderingFilter",
            "rest_framework_json_api.django_filters.DjangoFilterBackend",
        ],
        "PAGE_SIZE": 10,
    },
)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from waitress import serve  # noqa: E402

from gardens.models import Garden, Plant  # noqa: E402


def seed():
    call_command("migrate", run_syncdb=True, verbosity=0)
    gardens = [Garden.objects.create(name=name, area=area) for name, area in (("South", 30), ("North", 12))]
    for number in range(1, 5):
        Plant.objects.create(label=f"Plant {number}", height=10 * number, garden=gardens[number % 2])


if __name__ == "__main__":
    seed()
    serve(get_wsgi_application(), host="127.0.0.1", port=int(os.environ["PORT"]))
