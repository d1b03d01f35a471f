/** Checks relations between resources: owner, parent, unique sets, and references that form a cycle. */
import { suggest } from '../nearest.ts'
import { isComparable, type Part, type ResourceView } from './parts.ts'
import { show } from './problem.ts'

/** Checks `owner`: a text field that the server sets to the id of the caller (AUT-7). */
export function checkOwner(resource: ResourceView): void {
  const { name, fields } = resource
  const owner = resource.part.key('owner')
  if (owner.isAbsent) return
  const field = fields.get(owner.text)
  if (field === undefined) {
    const texts = [...fields.values()].filter((each) => each.shape.type === 'string').map((each) => each.name)
    const remedy = 'Declare the field, such as owner_id: { type: "string" }.'
    owner.unknown(`is not a field of ${name}: ${show(owner.value)}`, texts, remedy)
  } else if (field.shape.type !== 'string' || field.shape.enum !== undefined) {
    owner.report(`must be a field of texts: it holds the id of the caller`, `Write ${field.name}: { type: "string" }.`)
  } else if (field.declared['unique'] === true || isUniqueAlone(resource, field.name)) {
    const message = 'must not be unique by itself: each caller could create one record only'
    owner.report(message, `Remove "unique" from ${field.name}, or make it unique together with another field.`)
  }
}

function isUniqueAlone({ part }: ResourceView, name: string): boolean {
  const sets = part.key('unique').items()
  return sets.some(({ value }) => Array.isArray(value) && value.length === 1 && value[0] === name)
}

/** Checks `within`: the reference whose target also nests the collection (RES-2). */
export function checkWithin({ name, part, fields }: ResourceView): void {
  const within = part.key('within')
  if (within.isAbsent) return
  const field = fields.get(within.text)
  const references = [...fields.values()].filter((each) => each.declared['reference'] !== undefined)
  const names = references.map((each) => each.name)
  if (field === undefined) {
    within.unknown(`is not a field of ${name}: ${show(within.value)}`, names, 'Name a field that is a reference.')
  } else if (field.declared['reference'] === undefined) {
    const remedy = names.length > 0 ? `Name a reference: ${names.join(', ')}.` : `Write "reference" on ${field.name}.`
    within.report(`is not a reference: ${show(within.value)}`, remedy)
  } else if (field.shape.optional && field.declared['reference'] !== name) {
    // A tree nests within itself, and its root has no parent.
    within.report('must be a field that always has a value', `Take "optional" from ${field.name}.`)
  }
}

/** Checks `unique`: sets of fields whose values can be compared. */
export function checkUnique(resource: ResourceView): void {
  const sets = resource.part.key('unique')
  const { value } = sets
  if (sets.isAbsent) return
  if (!Array.isArray(value)) {
    sets.mustBe('an array of sets of fields', 'Write [["project_id", "title"]].')
  } else if (value.length > 0 && value.every((set) => typeof set === 'string')) {
    sets.report('must be an array of sets of fields', `Write [${show(value)}].`)
  } else for (const set of sets.items()) checkUniqueSet(set, resource)
}

function checkUniqueSet(set: Part, resource: ResourceView): void {
  const names = set.value
  if (!Array.isArray(names) || names.length === 0) {
    set.mustBe('an array of fields', 'Write ["project_id", "title"].')
    return
  }
  for (const [position, name] of set.items().entries()) {
    if (names.indexOf(name.value) === position) checkUniqueField(name, resource)
    else name.report(`is named twice: ${show(name.value)}`, 'Remove one of the two.')
  }
}

function checkUniqueField(part: Part, { name, fields }: ResourceView): void {
  const field = fields.get(part.text)
  if (field === undefined) {
    part.report(`is not a field of ${name}: ${show(part.value)}`, suggest(part.text, fields.keys()))
  } else if (field.writeOnly) {
    part.report('is writeOnly: a clash would let callers find out its value', 'Use another field.')
  } else if (!isComparable(field.shape.type)) {
    const message = `is an ${field.shape.type}: such values cannot be compared`
    part.report(message, 'Use a field of one text, number or truth value.')
  }
}

/** The references that every record must have: in a cycle of them no record could ever be created. */
export function requiredReferences({ name, fields }: ResourceView): Edge[] {
  return [...fields.values()].flatMap(({ declared: { reference }, shape, path }): Edge[] =>
    typeof reference === 'string' && !shape.optional ? [{ from: name, to: reference, path }] : [],
  )
}

/** An edge between two nodes, and its place in the declaration. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly path: string
}

/** One cycle for each group of nodes that lead back to themselves: its edges in order, from the first declared. */
export function findCycles(edges: readonly Edge[]): Edge[][] {
  const leaving = Map.groupBy(edges, (edge) => edge.from)
  const done = new Set<string>()
  const reported = new Set<string>()
  const cycles: Edge[][] = []

  function visit(node: string, trail: readonly Edge[]): void {
    for (const edge of leaving.get(node) ?? []) {
      const start = trail.findIndex((step) => step.from === edge.to)
      const cycle = edge.to === node ? [edge] : start >= 0 ? [...trail.slice(start), edge] : undefined
      if (cycle !== undefined) {
        if (!cycle.some((step) => reported.has(step.from))) cycles.push(cycle)
        for (const step of cycle) reported.add(step.from)
      } else if (!done.has(edge.to)) visit(edge.to, [...trail, edge])
    }
    done.add(node)
  }

  for (const node of leaving.keys()) if (!done.has(node)) visit(node, [])
  return cycles
}
