/** What fields demand beyond their schemas: uniqueness, transitions, references, being fixed, being searched. */
import type { Field, Resource } from '../../model/resource.ts'
import type { Said } from './said.ts'

/** Compares the fields that both have, and what holds among them. */
export function compareFields(was: Resource, is: Resource): Said[] {
  const pairs = was.fields.flatMap((before) => {
    const after = is.field.get(before.name)
    return after === undefined ? [] : [[before, after] as const]
  })
  return [
    ...compareUnique(was, is),
    ...compareOwner(was, is),
    ...compareSearch(was, is),
    ...pairs.flatMap(compareField),
  ]
}

function compareUnique(was: Resource, is: Resource): Said[] {
  return (
    is.unique
      .filter((set) => !was.unique.some((known) => known.every((field) => set.includes(field))))
      // What is new cannot clash with what old clients send.
      .filter((set) => set.every((field) => was.field.has(field)))
      .map((names) => ({
        kind: 'unique-added',
        names,
        at: names.length === 1 ? ['fields', names[0] ?? ''] : ['unique'],
      }))
  )
}

function compareOwner(was: Resource, is: Resource): Said[] {
  if (was.owner === is.owner || is.owner === undefined || !was.field.has(is.owner)) return []
  return [{ kind: 'owner-changed', before: was.owner ?? 'none', after: is.owner, at: ['owner'] }]
}

function compareSearch(was: Resource, is: Resource): Said[] {
  const searched = (fields: readonly Field[]) => fields.filter((field) => field.search).map((field) => field.name)
  const [before, after] = [searched(was.fields), searched(is.fields)]
  // Without any field left there is no `q`, nor was there: the documents say so.
  if (before.length === 0 || after.length === 0) return []
  const lost = before.filter((name) => !after.includes(name) && is.field.has(name))
  const gained = after.filter((name) => !before.includes(name))
  return [
    ...(lost.length === 0 ? [] : [{ kind: 'search-removed', names: lost, at: ['fields'] } as const]),
    ...(gained.length === 0 ? [] : [{ kind: 'search-added', names: gained, at: ['fields'] } as const]),
  ]
}

function compareField([was, is]: readonly [Field, Field]): Said[] {
  const found: Said[] = []
  const about = { field: was.name, at: ['fields', was.name] }
  if (was.immutable !== is.immutable && !was.readOnly && !is.readOnly) {
    found.push({ kind: is.immutable ? 'immutable-added' : 'immutable-removed', ...about })
  }
  found.push(...compareTransitions(was, is).map((each) => ({ ...each, ...about })))
  const [before, after] = [was.reference, is.reference]
  if (before?.collection !== after?.collection) {
    found.push({ kind: 'reference-changed', ...about, before: before?.collection, after: after?.collection })
  } else if (before?.onDelete !== after?.onDelete) {
    const kind = after?.onDelete === 'restrict' ? 'on-delete-stricter' : 'on-delete-changed'
    found.push({ kind, ...about, before: before?.onDelete, after: after?.onDelete })
  }
  return found
}

function compareTransitions(was: Field, is: Field): Pick<Said, 'kind' | 'names'>[] {
  const values = (was.enum ?? []).filter((value) => is.enum?.includes(value))
  const steps = values.flatMap((from) => values.filter((to) => to !== from).map((to) => [from, to] as const))
  const allows = ({ transitions }: Field, from: string, to: string) =>
    transitions === undefined || (transitions[from]?.includes(to) ?? false)
  const names = (list: typeof steps) => list.map(([from, to]) => `from ${from} to ${to}`)
  const lost = steps.filter(([from, to]) => allows(was, from, to) && !allows(is, from, to))
  const gained = steps.filter(([from, to]) => !allows(was, from, to) && allows(is, from, to))
  return [
    ...(lost.length === 0 ? [] : [{ kind: 'transitions-removed', names: names(lost) } as const]),
    ...(gained.length === 0 ? [] : [{ kind: 'transitions-added', names: names(gained) } as const]),
  ]
}
