from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models


class Genre(models.Model):
    name = models.CharField(max_length=40, unique=True)

    class Meta:
        ordering = ["id"]


class Author(models.Model):
    name = models.CharField(max_length=120)
    born = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["id"]


class Book(models.Model):
    title = models.CharField(max_length=200)
    isbn = models.CharField(max_length=13, unique=True)
    pages = models.PositiveIntegerField(validators=[MinValueValidator(1), MaxValueValidator(5000)])
    price = models.DecimalField(max_digits=7, decimal_places=2)
    author = models.ForeignKey(Author, on_delete=models.PROTECT, related_name="books")
    genres = models.ManyToManyField(Genre, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
