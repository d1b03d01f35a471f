/**
 * Older versions (VER-2): the current resources, with each declared change undone, one version after the other back to
 * the oldest. What comes of it is a resource like any other, and the lens through which it is seen.
 */
import { completeField } from './complete-field.ts'
import { canonicalValue } from './decimal-field.ts'
import type { ChangeDeclaration, FieldDeclaration, InterfaceDeclaration } from './declaration.ts'
import { callDeclared, frozenCopy } from './declared-function.ts'
import { shapeOf } from './field-shape.ts'
import type { Catalog, Conversion, Field, Lens, Resource } from './resource.ts'
import { hashOf } from './shape-hash.ts'

/** A field on its way back. */
interface Shown {
  readonly name: string
  readonly declared: FieldDeclaration
  /** The stored field; `undefined`: only older versions have it. */
  readonly stored: string | undefined
  readonly value: unknown
  readonly conversion: Conversion | undefined
}

/** A collection on its way back. */
interface Past {
  readonly stored: Resource
  readonly name: string
  readonly fields: readonly Shown[]
  readonly isShown: boolean
}

/** Every version's catalog, the oldest first. */
export function versionsOf(catalog: Catalog, declared: InterfaceDeclaration): Map<string, Catalog> {
  const names = Object.keys(declared.versions ?? { [catalog.version]: {} })
  const changes = declared.changes ?? []
  let pasts = [...catalog.resources.values()].map((resource): Past => {
    const isShown = !changes.some((each) => each.resource === resource.name && each.collection === 'removed')
    return { stored: resource, name: resource.name, fields: declaredFields(resource, declared), isShown }
  })
  const versions: [string, Catalog][] = []
  for (const version of names.toReversed()) {
    versions.unshift([version, catalogOf(catalog, version, pasts)])
    pasts = pasts.map((past) => {
      const own = changes.filter((each) => each.version === version && each.resource === past.name)
      // Of several the last is undone first.
      return own.reduceRight(undo, past)
    })
  }
  return new Map(versions)
}

function declaredFields({ name }: Resource, declared: InterfaceDeclaration): Shown[] {
  const fields = Object.entries(declared.resources[name]?.fields ?? {})
  return fields.map(([field, declaration]) => ({
    ...{ name: field, declared: declaration as FieldDeclaration, stored: field },
    ...{ value: undefined, conversion: undefined },
  }))
}

/** A collection as it was before a change. */
function undo(
  past: Past,
  { version, resource, was, collection, rename = {}, add = [], remove = {}, convert = {} }: ChangeDeclaration,
): Past {
  const olderNames = new Map(Object.entries(rename).map(([older, newer]) => [newer, older]))
  const fields = past.fields
    .filter(({ name }) => !add.includes(name))
    .map((shown): Shown => {
      const converted = Object.hasOwn(convert, shown.name) ? convert[shown.name] : undefined
      const name = olderNames.get(shown.name) ?? shown.name
      if (converted === undefined) return { ...shown, name }
      const { schema, ...functions } = converted as { schema: FieldDeclaration } & Conversion
      const conversion = guarded(`${version}: ${resource}.convert.${shown.name}`, functions, schema, shown.declared)
      const value = shown.stored === undefined ? conversion.older(shown.value) : undefined
      return { ...shown, name, declared: schema, value, conversion: joined(shown.conversion, conversion) }
    })
  for (const [name, { schema, value, before }] of Object.entries(remove)) {
    const place = fields.findIndex((each) => each.name === before)
    const removed: Shown = {
      name,
      declared: schema as FieldDeclaration,
      stored: undefined,
      value: canonicalValue(shapeOf(schema as FieldDeclaration), value),
      conversion: undefined,
    }
    fields.splice(place === -1 ? fields.length : place, 0, removed)
  }
  const isShown = collection === 'removed' || (past.isShown && collection !== 'added')
  return { ...past, name: was ?? past.name, fields, isShown }
}

/** The functions of a conversion, given copies that cannot change, and called so that the log names them. */
function guarded(
  place: string,
  { older, newer }: Conversion,
  olderField: FieldDeclaration,
  newerField: FieldDeclaration,
): Conversion {
  const call = (name: string, convert: (value: unknown) => unknown, field: FieldDeclaration) => {
    const shape = shapeOf(field)
    return (value: unknown) => {
      const given = frozenCopy(value)
      const made = callDeclared(`changes of ${place}.${name}`, given, () => convert(given))
      return canonicalValue(shape, made)
    }
  }
  return { older: call('older', older, olderField), newer: call('newer', newer, newerField) }
}

/** Both steps in one: from the newest to the oldest, and back. */
function joined(newest: Conversion | undefined, { older, newer }: Conversion): Conversion {
  // A field without value has none in any version.
  const older1 = (value: unknown) => (value === null ? null : older(value))
  const newer1 = (value: unknown) => (value === null ? null : newer(value))
  if (newest === undefined) return { older: older1, newer: newer1 }
  return { older: (value) => older1(newest.older(value)), newer: (value) => newest.newer(newer1(value)) }
}

function catalogOf(catalog: Catalog, version: string, pasts: readonly Past[]): Catalog {
  const shown = pasts.filter(({ isShown }) => isShown)
  const names = new Map(shown.map(({ stored, name }) => [stored.name, name]))
  const resources = shown.map((past) => resourceOf(past, version, names))
  return { ...catalog, version, resources: new Map(resources.map((each) => [each.name, each])), versions: new Map() }
}

/** @param names of all collections of the version, by those that are stored */
function resourceOf(
  { stored, name, fields: pastFields }: Past,
  version: string,
  names: ReadonlyMap<string, string>,
): Resource {
  const isAsStored =
    name === stored.name &&
    pastFields.length === stored.fields.length &&
    pastFields.every((each) => each.stored === each.name && each.conversion === undefined) &&
    [...stored.children, ...stored.fields.map((each) => each.reference?.collection ?? name)].every(
      (each) => (names.get(each) ?? '') === each,
    )
  if (isAsStored) return stored
  const lens = lensOf(stored, version, pastFields)
  const fields = pastFields.map((each) => fieldOf(each, stored, names))
  const nameOf = (field: string) => lens.shown.get(field)
  return {
    ...stored,
    name,
    fields,
    field: new Map(fields.map((each) => [each.name, each])),
    owner: stored.owner === undefined ? undefined : nameOf(stored.owner),
    within: withinOf(stored, lens, names),
    unique: stored.unique.flatMap((set) => {
      const shown = set.map(nameOf)
      return shown.includes(undefined) ? [] : [shown as string[]]
    }),
    children: stored.children.flatMap((each) => names.get(each) ?? []),
    lens,
    shape: hashOf(fields, lens.constants),
  }
}

function withinOf({ within }: Resource, { shown }: Lens, names: ReadonlyMap<string, string>): Resource['within'] {
  const field = within && shown.get(within.field)
  const collection = within && names.get(within.collection)
  return field === undefined || collection === undefined ? undefined : { field, collection }
}

function lensOf({ name: collection }: Resource, version: string, fields: readonly Shown[]): Lens {
  const pairs = fields.flatMap(({ name, stored }): [string, string][] => (stored === undefined ? [] : [[name, stored]]))
  return {
    version,
    collection,
    stored: new Map(pairs),
    shown: new Map(pairs.map(([name, stored]) => [stored, name])),
    constants: new Map(fields.flatMap(({ name, stored, value }) => (stored === undefined ? [[name, value]] : []))),
    conversions: new Map(
      fields.flatMap(({ name, stored, conversion }) =>
        conversion === undefined || stored === undefined ? [] : [[name, conversion]],
      ),
    ),
  }
}

function fieldOf(
  { name, declared, stored: field, conversion }: Shown,
  stored: Resource,
  names: ReadonlyMap<string, string>,
): Field {
  const completed = completeField(name, declared, field !== undefined && field === stored.owner, true)
  const made = { ...completed, transitions: transitionsOf(field, conversion, stored) }
  if (made.reference === undefined) return made
  const { collection, onDelete } = made.reference
  return { ...made, reference: { collection: names.get(collection) ?? collection, onDelete } }
}

/** Which values may follow which is decided by what is stored, and told in the values that the version has. */
function transitionsOf(
  field: string | undefined,
  conversion: Conversion | undefined,
  stored: Resource,
): Field['transitions'] {
  const transitions = stored.field.get(field ?? '')?.transitions
  if (transitions === undefined || conversion === undefined) return transitions
  const older = (value: string) => String(conversion.older(value))
  return Object.fromEntries(Object.entries(transitions).map(([from, to]) => [older(from), to.map(older)]))
}
