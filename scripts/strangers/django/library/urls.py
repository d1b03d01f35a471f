from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework import routers, serializers, viewsets

from .models import Author, Book, Genre


def serializer_of(record):
    meta = type("Meta", (), {"model": record, "fields": "__all__"})
    return type(f"{record.__name__}Serializer", (serializers.ModelSerializer,), {"Meta": meta})


class GenreViewSet(viewsets.ModelViewSet):
    queryset = Genre.objects.all()
    serializer_class = serializer_of(Genre)


class AuthorViewSet(viewsets.ModelViewSet):
    queryset = Author.objects.all()
    serializer_class = serializer_of(Author)
    search_fields = ["name"]


class BookViewSet(viewsets.ModelViewSet):
    queryset = Book.objects.all()
    serializer_class = serializer_of(Book)
    filterset_fields = ["author", "genres", "pages"]
    search_fields = ["title"]
    ordering_fields = ["title", "pages", "price"]


router = routers.DefaultRouter()
router.register("genres", GenreViewSet)
router.register("authors", AuthorViewSet)
router.register("books", BookViewSet)
urlpatterns = [
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/", include(router.urls)),
]
