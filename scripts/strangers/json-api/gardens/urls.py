from django.urls import include, path
from rest_framework.routers import DefaultRouter
from rest_framework_json_api import serializers, views

from .models import Garden, Plant


class GardenSerializer(serializers.ModelSerializer):
    class Meta:
        model = Garden
        fields = ["name", "area"]


class PlantSerializer(serializers.ModelSerializer):
    class Meta:
        model = Plant
        fields = ["label", "height", "hardy", "garden"]


class GardenViewSet(views.ModelViewSet):
    queryset = Garden.objects.all()
    serializer_class = GardenSerializer
    filterset_fields = {"name": ["exact"], "area": ["exact", "gt"]}


class PlantViewSet(views.ModelViewSet):
    queryset = Plant.objects.all()
    serializer_class = PlantSerializer
    filterset_fields = {"label": ["exact"], "height": ["exact"]}


router = DefaultRouter(trailing_slash=False)
router.register("gardens", GardenViewSet)
router.register("plants", PlantViewSet)
urlpatterns = [path("", include(router.urls))]
