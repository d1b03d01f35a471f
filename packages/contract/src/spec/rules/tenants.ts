/** The rules about tenants. */
import { beyond, decided, section } from './rule.ts'

const unobservable = 'The checker has no cases of tenants yet.'

const tenants = section('TEN', 'Tenants', {
  'TEN-1': beyond(
    "With `tenants: { caller: 'claims.team' }` each request belongs to the tenant that its caller's claim, or " +
      'key, names. Without one it is 403 `NO_TENANT`, also for a claim that is no text. Of an unknown or ' +
      "deleted one it is 403 `UNKNOWN_TENANT`. With `create: 'first-use'` a request that changes something " +
      'creates an unknown tenant, as long as there are fewer than `limits.tenants`, and one that reads finds it ' +
      'empty and creates nothing. These come after 401 and 429, and before 404. Addresses stay the same. ' +
      'Tenants over a database with records of the declaration without them are refused at the start.',
    unobservable,
  ),
  'TEN-2': beyond(
    'Everything of a tenant is apart: records, totals, tags, unique values, sequences, events, webhooks, ' +
      'jobs, exports, keys, idempotency, history and rates. It has a file of its own on SQLite, and a schema of ' +
      'its own on PostgreSQL. Keys that a caller creates belong to the tenant of the caller and have only ' +
      'claims of the caller; `/api-keys` shows a tenant its own. No tag, cursor or position of one tenant is ' +
      'valid in another: such a cursor is 400 `INVALID_CURSOR`. `limits.rate.tenant` bounds the requests of a ' +
      'whole tenant.',
    unobservable,
  ),
  'TEN-3': beyond(
    'A caller with the role `operator` and no tenant manages tenants at `/tenants`: POST of a name is 201, ' +
      'DELETE is soft, and `restore` works within `tenants: { gracePeriod }`. Then a job removes the database. ' +
      'Names are compared exactly and stay taken while a deleted tenant is kept. Meanwhile its claims are 403 ' +
      '`UNKNOWN_TENANT`, its keys 401, and no first use revives it. Everything else but `/jobs`, `/health/*` ' +
      'and the documents is 403 for operators, and `/tenants` for all others.',
    unobservable,
  ),
  'TEN-4': decided(
    'Migrations go over all tenants, some at a time, and continue after a crash. A tenant that is not yet ' +
      'migrated is 503 `TENANT_MIGRATING` with `Retry-After`, and is migrated next; others are served. Tenants ' +
      'that nobody uses are closed, and are opened when they are asked or have something to do.',
    unobservable,
  ),
  'TEN-5': decided(
    'On Citus with schema-based sharding tenants are spread over nodes, and have the same answers. A node that ' +
      'is lost takes its tenants with it, and no other; meanwhile no tenant is created or deleted. Servers follow ' +
      'a tenant that Citus moves to another node. The first use of a tenant, and `doctor`, say what is missing.',
    unobservable,
  ),
})

/** The section about tenants. */
export const tenantRules = [tenants]
