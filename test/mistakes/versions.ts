/** In the versions of a declaration and what carries them. The declaration of the documentation has v1 alone. */
import type { Mistake } from './mistake.ts'

const of = (v1: unknown) => ({ v1, v2: {} })

export const versionsMistakes: readonly Mistake[] = [
  {
    name: 'a version of another form',
    at: 'versions',
    write: { '1.0': {} },
    path: 'versions["1.0"]',
    remedy: /v1, v2/,
  },
  { name: 'a version zero', at: 'versions', write: { v0: {}, v1: {} }, path: 'versions.v0' },
  { name: 'no version', at: 'versions', write: {}, path: 'versions' },
  { name: 'versions as an array', at: 'versions', write: ['v1'], path: 'versions' },
  { name: 'a version that is a text', at: 'versions', write: of('old'), path: 'versions.v1' },
  {
    name: 'the newest version first',
    at: 'versions',
    write: { v2: {}, v1: {} },
    path: 'versions.v1',
    remedy: /before v2/,
  },
  {
    ...{ name: 'a version that ends and is the only one', at: 'versions', write: { v1: { sunset: '2027-01-01' } } },
    ...{ path: 'versions.v1.sunset', message: /no successor/, remedy: /follows/ },
  },
  {
    ...{ name: 'a deprecated last version', at: 'versions', write: { v1: {}, v2: { deprecated: '2027-01-01' } } },
    ...{ path: 'versions.v2.deprecated', message: /current/ },
  },
  {
    ...{ name: 'an unknown key of a version', at: 'versions', write: of({ sunet: 1 }) },
    ...{ path: 'versions.v1.sunet', remedy: /"sunset"/ },
  },
  {
    ...{ name: 'a date of another form', at: 'versions', write: of({ deprecated: '1.9.2026' }) },
    ...{ path: 'versions.v1.deprecated', remedy: /"2027-06-01"/ },
  },
  { name: 'a day that is none', at: 'versions', write: of({ sunset: '2027-02-30' }), path: 'versions.v1.sunset' },
  { name: 'a date that is a number', at: 'versions', write: of({ sunset: 2027 }), path: 'versions.v1.sunset' },
  {
    ...{ name: 'a sunset before the deprecation', at: 'versions' },
    ...{ write: of({ deprecated: '2026-09-01', sunset: '2026-08-31T23:59:59Z' }) },
    ...{ path: 'versions.v1.sunset', remedy: /after 2026-09-01/ },
  },
  {
    ...{ name: 'another thing to do after the sunset', at: 'versions' },
    ...{ write: of({ sunset: '2027-01-01', afterSunset: 'redirects' }) },
    ...{ path: 'versions.v1.afterSunset', remedy: /"redirect"/ },
  },
  {
    ...{ name: 'what comes after no sunset', at: 'versions', write: of({ afterSunset: 'gone' }) },
    ...{ path: 'versions.v1.afterSunset', remedy: /Add sunset/ },
  },
  {
    name: 'a redirect to the same address',
    at: {
      versions: of({ sunset: '2027-01-01', afterSunset: 'redirect' }),
      versionCarriers: ['header', 'media-type'],
    },
    ...{ path: 'versions.v1.afterSunset', message: /same addresses/, remedy: /"gone"/ },
  },
  {
    ...{ name: 'a guide that is no URL', at: 'versions', write: of({ sunset: '2027-01-01', guide: '/guide' }) },
    ...{ path: 'versions.v1.guide', remedy: /https:/ },
  },
  {
    ...{ name: 'a guide that is a script', at: 'versions' },
    ...{ write: of({ sunset: '2027-01-01', guide: 'javascript:alert(1)' }), path: 'versions.v1.guide' },
  },
  {
    ...{ name: 'a guide that nobody sees', at: 'versions', write: of({ guide: 'https://example.org/v2' }) },
    ...{ path: 'versions.v1.guide', remedy: /Add deprecated/ },
  },
  {
    name: 'an unknown carrier',
    at: 'versionCarriers',
    write: ['headers'],
    path: 'versionCarriers[0]',
    remedy: /"header"/,
  },
  { name: 'a carrier twice', at: 'versionCarriers', write: ['path', 'path'], path: 'versionCarriers[1]' },
  { name: 'no carrier', at: 'versionCarriers', write: [], path: 'versionCarriers' },
  { name: 'a carrier outside of an array', at: 'versionCarriers', write: 'path', path: 'versionCarriers' },
]
