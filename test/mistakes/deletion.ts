/** In how records are deleted, and many of them changed. */
import { type Mistake, tasks } from './mistake.ts'

function deletion(name: string, key: string, write: unknown, inner = key, remedy?: RegExp): Mistake {
  return { name, at: `${tasks}/deletion`, write: { [key]: write }, path: `resources.tasks.deletion.${inner}`, remedy }
}

function updates(name: string, write: unknown, inner: string, remedy?: RegExp): Mistake {
  return { name, at: `${tasks}/updates`, write, path: `resources.tasks.updates${inner}`, remedy }
}

export const deletionMistakes: readonly Mistake[] = [
  { name: 'deletion as a text', at: `${tasks}/deletion`, write: 'soft', path: 'resources.tasks.deletion' },
  deletion('an unknown key', 'grace', 'P1D', 'grace'),
  deletion('a key mistyped', 'gracePeriode', 'P1D', 'gracePeriode', /"gracePeriod"/),
  deletion('an unknown variant', 'variant', 'sfot', 'variant', /"soft"/),
  deletion('no duration', 'gracePeriod', '30 days', 'gracePeriod', /P30D/),
  deletion('a month', 'gracePeriod', 'P1M', 'gracePeriod', /P30D/),
  deletion('no time', 'gracePeriod', 'PT0S', 'gracePeriod', /hard/),
  deletion('restorable that is no flag', 'restorable', 'yes'),
  deletion('asynchronous otherwise', 'asynchronous', true),
  deletion('above nothing', 'asynchronous', {}, 'asynchronous.above'),
  deletion('an unknown answer', 'answer', 'full'),
  deletion('an unknown repeat', 'repeated', 404),
  deletion('bulk of true', 'bulk', true, 'bulk', /it is on/),
  deletion('bulk of none', 'bulk', { max: 0 }, 'bulk.max'),
  deletion('by filter', 'byFilter', 'yes', 'byFilter'),
  updates('updates as a flag', true, '', /byFilter: true/),
  updates('updates by an unknown key', { byFiltre: true }, '.byFiltre', /"byFilter"/),
  updates('updates above too many', { byFilter: true, above: 1_001 }, '.above'),
  updates('updates above without a filter', { above: 10 }, '.above', /byFilter: true/),
  {
    name: 'hard with a grace period',
    at: `${tasks}/deletion`,
    write: { variant: 'hard', gracePeriod: 'P1D' },
    path: 'resources.tasks.deletion.gracePeriod',
  },
  {
    name: 'hard and restorable',
    at: `${tasks}/deletion`,
    write: { variant: 'hard', restorable: true },
    path: 'resources.tasks.deletion.restorable',
  },
]
