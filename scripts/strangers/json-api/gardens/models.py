from django.db import models


class Garden(models.Model):
    name = models.CharField(max_length=60)
    area = models.IntegerField(default=1)

    class Meta:
        ordering = ["id"]


class Plant(models.Model):
    label = models.CharField(max_length=40)
    height = models.IntegerField()
    hardy = models.BooleanField(default=False)
    garden = models.ForeignKey(Garden, on_delete=models.CASCADE, related_name="plants")

    class Meta:
        ordering = ["id"]
