"""Uses the client of openapi-python-client: creates, lists, reads, updates with If-Match and deletes a task."""
import os

from studio.api.projects import create_project
from studio.api.tasks import create_task, delete_task, get_task, list_tasks, update_task
from studio.client import AuthenticatedClient
from studio.models import ApiProblem, Project, ProjectCreate, Task, TaskCreate, TaskPage, TaskPatch

client = AuthenticatedClient(base_url=os.environ["BASE"], token=os.environ["KEY"])
project = create_project.sync(client=client, body=ProjectCreate(name="By openapi-python-client"))
assert isinstance(project, Project), project
created = create_task.sync(client=client, body=TaskCreate(title="Paint", project_id=project.id))
assert isinstance(created, Task), created

page = list_tasks.sync(client=client, project_id=[project.id], sort="-created_at", limit=5)
assert isinstance(page, TaskPage), page
assert [task.title for task in page.data] == ["Paint"] and page.pagination.total_count == 1

# Without any parameter: a client that sent defaults would mix the styles of pages.
assert isinstance(list_tasks.sync(client=client), TaskPage)

read = get_task.sync_detailed(str(created.id), client=client)
assert isinstance(read.parsed, Task) and read.parsed.due_on is None, read

tag = read.headers["ETag"]
patch = TaskPatch(title="Sand")
changed = update_task.sync(str(created.id), client=client, body=patch, if_match=tag)
assert isinstance(changed, Task) and changed.title == "Sand", changed
stale = update_task.sync(str(created.id), client=client, body=patch, if_match=tag)
assert isinstance(stale, ApiProblem) and stale.code == "PRECONDITION_FAILED", stale

assert delete_task.sync_detailed(str(created.id), client=client).status_code == 204
gone = get_task.sync(str(created.id), client=client)
assert isinstance(gone, ApiProblem) and gone.code == "NOT_FOUND", gone
print("done")
