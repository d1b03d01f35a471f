/** At the top of a declaration. */
import { at } from 'resourced-contract/model/place'
import type { Mistake } from './mistake.ts'

/** In the rates of single actions. */
const rateMistakes = (
  [
    ['a rate of a collection alone', 'tasks', /collection and an action/, /"users\.create"/],
    ['a rate of a collection that is not there', 'task.create', /not declared/, /"tasks"/],
    ['a rate of an action that is none', 'tasks.creat', /no action/, /"create"/],
    ['a rate of reading what is deleted', 'tasks.readDeleted', /reading/, /"tasks\.read"/],
    ['a rate of everything', '*.*', /every request/, /limits\.rate\.caller/],
  ] as const
).map(
  ([name, action, message, remedy]): Mistake => ({
    ...{ name, at: 'limits', write: { rate: { actions: { [action]: '9/hour' } } }, message, remedy },
    path: at('limits.rate.actions', action),
  }),
)

export const interfaceMistakes: readonly Mistake[] = [
  { name: 'no name', at: 'name', write: undefined, path: 'name', message: /missing/, remedy: /studio/ },
  { name: 'a name in capitals', at: 'name', write: 'Studio', path: 'name', remedy: /"studio"/ },
  { name: 'an empty title', at: 'title', write: ' ', path: 'title' },
  { name: 'a title of two lines', at: 'title', write: 'a\nb', path: 'title', remedy: /description/ },
  { name: 'a description that is no text', at: 'description', write: 3, path: 'description' },
  { name: 'an authorize that is data', at: 'authorize', write: { role: 'a' }, path: 'authorize', remedy: /JavaScript/ },
  { name: 'an unknown key', at: 'resource', write: {}, path: 'resource', remedy: /"resources"/ },
  { name: 'no resources', at: 'resources', write: undefined, path: 'resources' },
  { name: 'resources as an array', at: 'resources', write: [], path: 'resources' },
  { name: 'empty resources', at: 'resources', write: {}, path: 'resources' },
  { name: 'an unknown limit', at: 'limits', write: { pagesize: {} }, path: 'limits.pagesize', remedy: /"pageSize"/ },
  { name: 'a page of nothing', at: 'limits', write: { pageSize: { default: 0 } }, path: 'limits.pageSize.default' },
  {
    name: 'a page beyond the maximum',
    at: 'limits',
    write: { pageSize: { default: 200 } },
    path: 'limits.pageSize.default',
  },
  { name: 'a maximum that is a text', at: 'limits', write: { pageSize: { max: '100' } }, path: 'limits.pageSize.max' },
  { name: 'a body of half a byte', at: 'limits', write: { bodyBytes: 0.5 }, path: 'limits.bodyBytes' },
  {
    name: 'a page of a few bytes',
    at: 'limits',
    write: { pageBytes: 1_000 },
    path: 'limits.pageBytes',
    remedy: /65[,_]?536/,
  },
  {
    name: 'a time of reads as a text',
    at: 'limits',
    write: { readTime: '10s' },
    path: 'limits.readTime',
    remedy: /such as 10\./,
  },
  { name: 'no included records', at: 'limits', write: { include: { records: 0 } }, path: 'limits.include.records' },
  { name: 'no time to read', at: 'limits', write: { readTime: 0 }, path: 'limits.readTime', remedy: /10/ },
  {
    name: 'no exports at all',
    at: 'limits',
    write: { exports: { count: 0 } },
    path: 'limits.exports.count',
  },
  {
    name: 'an unknown limit of exports',
    at: 'limits',
    write: { exports: { byte: 2_048 } },
    path: 'limits.exports.byte',
    remedy: /"bytes"/,
  },
  {
    name: 'exports of all callers as a text',
    at: 'limits',
    write: { exports: { total: '10 GiB' } },
    path: 'limits.exports.total',
  },
  {
    ...{ name: 'events kept for a month', at: 'limits', write: { events: { retention: 'P1M' } } },
    ...{ path: 'limits.events.retention', remedy: /P30D/ },
  },
  {
    ...{ name: 'events kept for no time', at: 'limits', write: { events: { retention: 'PT0S' } } },
    ...{ path: 'limits.events.retention', remedy: /P7D/ },
  },
  {
    ...{ name: 'no streams', at: 'limits', write: { events: { streams: 0 } } },
    path: 'limits.events.streams',
  },
  {
    name: 'a rate by day',
    at: 'limits',
    write: { rate: { caller: '9/day' } },
    path: 'limits.rate.caller',
    remedy: /N\/hour/,
  },
  {
    name: 'an unknown rate',
    at: 'limits',
    write: { rate: { callers: '9/hour' } },
    path: 'limits.rate.callers',
    remedy: /"caller"/,
  },
  {
    ...{ name: 'no keys at all', at: 'limits', write: { keys: { perSubject: 0 } } },
    path: 'limits.keys.perSubject',
  },
  {
    ...{ name: 'a rule where the name of a role belongs', at: 'limits', write: { keys: { lastingRoles: ['role:x'] } } },
    ...{ path: 'limits.keys.lastingRoles[0]', remedy: /operator/ },
  },
  {
    ...{ name: 'one role, not in an array', at: 'limits', write: { keys: { lastingRoles: 'operator' } } },
    path: 'limits.keys.lastingRoles',
  },
  { name: 'tenants as a text', at: 'tenants', write: 'claims.team', path: 'tenants', remedy: /claims\.team/ },
  {
    ...{ name: 'tenants by something that is no claim', at: 'tenants', write: { caller: 'team' } },
    ...{ path: 'tenants.caller', remedy: /claims\.team/ },
  },
  { name: 'tenants by nothing', at: 'tenants', write: {}, path: 'tenants.caller', message: /missing/ },
  {
    ...{ name: 'tenants that nobody creates', at: 'tenants', write: { caller: 'claims.team', create: 'never' } },
    ...{ path: 'tenants.create', remedy: /first-use/ },
  },
  {
    ...{ name: 'tenants kept for a month', at: 'tenants', write: { caller: 'claims.team', gracePeriod: 'P1M' } },
    ...{ path: 'tenants.gracePeriod', remedy: /P30D/ },
  },
  {
    ...{ name: 'a number of tenants where no first use creates them', at: 'limits', write: { tenants: 5 } },
    ...{ path: 'limits.tenants', remedy: /first-use/ },
  },
  {
    ...{ name: 'a rate of tenants without tenants', at: 'limits', write: { rate: { tenant: '9/hour' } } },
    ...{ path: 'limits.rate.tenant', remedy: /tenants/ },
  },
  {
    name: 'a collection of tenants beside tenants',
    at: { tenants: { caller: 'claims.team' }, 'resources/tenants': { fields: { name: { type: 'string' } } } },
    ...{ path: 'resources.tenants', remedy: /my-tenants/ },
  },
  ...rateMistakes,
  {
    name: 'a rate of an action that is a number',
    at: 'limits',
    write: { rate: { actions: { '*.create': 10 } } },
    path: 'limits.rate.actions["*.create"]',
    remedy: /N\/hour/,
  },
]
