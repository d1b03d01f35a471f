/** The properties of two forms of an object, and the items of two forms of an array. */
import type { Kind } from '../kinds.ts'
import { flagged } from './annotation.ts'
import { type Compared, fieldIn, type Pair, placesOf, type SchemaDifference, type Way } from './pair.ts'
import type { Schemas, Shape } from './shape.ts'
import type { Reader } from './union.ts'

/** Compares what two forms hold. */
export function compareObjects(older: Reader, newer: Reader, pair: Pair, [was, is]: readonly [Shape, Shape]): Compared {
  const differences: SchemaDifference[] = []
  const inside: Pair[] = []
  const { way } = pair
  const within = pair.within === undefined ? {} : { within: pair.within }
  const hidden = way === 'request' ? 'readOnly' : 'writeOnly'

  for (const name of new Set([...was.properties.keys(), ...is.properties.keys()])) {
    const before = was.properties.get(name)
    const after = is.properties.get(name)
    const field = fieldIn(pair.field, name)
    const sent = before !== undefined && !flagged(older, before, hidden)
    const sends = after !== undefined && !flagged(newer, after, hidden)
    // What the server alone sets, or never shows, is no business of this direction.
    if (!sent && !sends) continue
    const differs = (kind: Kind) => {
      const places = placesOf({ old: before ?? parentOf(was), new: after ?? parentOf(is) })
      differences.push({ kind, field, ...within, places })
    }
    const [needed, needs] = [was.required.has(name), is.required.has(name)]
    if (!sends) differs(way === 'request' && after !== undefined ? 'field-read-only' : 'field-removed')
    else if (!sent) differs(way === 'request' && needs ? 'field-added-required' : 'field-added')
    else {
      if (needed !== needs) differs(needs ? 'field-required' : 'field-optional')
      if (flagged(newer, after as Schemas, 'deprecated') && !flagged(older, before as Schemas, 'deprecated')) {
        differs('field-deprecated')
      }
      const envelope = pair.envelope === 'list' ? ({ envelope: 'array' } as const) : {}
      inside.push({
        old: before as Schemas,
        new: after as Schemas,
        way: wayOf(way, name),
        field,
        ...within,
        ...envelope,
      })
    }
  }
  for (const name of was.required.symmetricDifference(is.required)) {
    if (was.properties.has(name) || is.properties.has(name)) continue
    const field = fieldIn(pair.field, name)
    const kind = is.required.has(name) ? 'field-required' : 'field-optional'
    differences.push({ kind, field, ...within, places: placesOf(pair) })
  }
  const more = compareAdditional(was, is, pair)
  return {
    differences: [...differences, ...more.differences],
    inside: [...inside, ...more.inside, ...compareItems(was, is, pair)],
  }
}

/** What is missing is looked for where it would be. */
function parentOf({ pointer }: Shape): Schemas {
  return [{ value: undefined, pointer }]
}

function wayOf(way: Way, name: string): Way {
  return way === 'error' && name === 'code' ? 'code' : way
}

/** Other properties than those named. In answers more of them are always fine: clients ignore what they do not know. */
function compareAdditional({ additional: was }: Shape, { additional: is }: Shape, pair: Pair): Compared {
  const differs = (kind: Kind): Compared => ({
    differences: [
      { kind, field: pair.field, ...(pair.within !== undefined && { within: pair.within }), places: placesOf(pair) },
    ],
    inside: [],
  })
  const nothing = { differences: [], inside: [] }
  if (typeof was === 'object' && typeof is === 'object') {
    return {
      differences: [],
      inside: [{ ...pair, old: was, new: is, field: fieldIn(pair.field, '*'), envelope: undefined }],
    }
  }
  if (was === is) return nothing
  const narrower = is === 'closed' || was === 'open'
  if (pair.way === 'request') return differs(narrower ? 'object-closed' : 'object-opened')
  return narrower || was === 'closed' ? nothing : differs('others-widened')
}

function compareItems(was: Shape, is: Shape, pair: Pair): Pair[] {
  if (was.items === undefined && is.items === undefined) return []
  const anything = (shape: Shape): Schemas => [{ value: true, pointer: shape.pointer }]
  const field = pair.envelope !== undefined ? '' : pair.field.endsWith('[][][]') ? pair.field : `${pair.field}[]`
  return [{ ...pair, old: was.items ?? anything(was), new: is.items ?? anything(is), field, envelope: undefined }]
}
