"""Authors, genres and books with Django REST Framework, drf-spectacular and SQLite."""

import os

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="only for this machine",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="library.urls",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django_filters",
        "rest_framework",
        "rest_framework.authtoken",
        "drf_spectacular",
        "library",
    ],
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{os.environ['DATA']}/library.db"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    TIME_ZONE="UTC",
    USE_TZ=True,
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
        "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
        "DEFAULT_FILTER_BACKENDS": [
            "django_filters.rest_framework.DjangoFilterBackend",
            "rest_framework.filters.SearchFilter",
            "rest_framework.filters.OrderingFilter",
        ],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
        "PAGE_SIZE": 10,
    },
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402
from waitress import serve  # noqa: E402

from library.models import Author, Book, Genre  # noqa: E402


def seed():
    call_command("migrate", run_syncdb=True, verbosity=0)
    user = User.objects.create_user("librarian")
    Token.objects.create(user=user, key="9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b")
    genres = [Genre.objects.create(name=name) for name in ("Novel", "Essay", "Poetry")]
    for number in range(1, 6):
        author = Author.objects.create(name=f"Author {number}", born=f"19{number}0-01-15")
        for volume in range(1, 6):
            book = Book.objects.create(
                title=f"Volume {volume} of author {number}",
                isbn=f"97800000{number:02}{volume:03}",
                pages=100 * number + volume,
                price=f"{9 + volume}.90",
                author=author,
            )
            book.genres.add(genres[volume % 3])


if __name__ == "__main__":
    seed()
    serve(get_wsgi_application(), host="127.0.0.1", port=int(os.environ["PORT"]))
