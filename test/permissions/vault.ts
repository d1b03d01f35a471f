/**
 * The interface of the matrix: for a form of rule, a collection for each action that it guards. The others are
 * anyone's.
 */

import { type Action, actions, type InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import type { Form } from './forms.ts'

const words: Readonly<Record<string, string>> = { readDeleted: 'deleted', readHistory: 'history' }
const word = (action: Action) => words[action] ?? action

/** The collection in which the form guards this action. */
export function collectionOf(action: Action): string {
  return `${word(action)}-things`
}

/** The field of `links` that refers to it. */
export function linkTo(action: Action): string {
  return `${word(action)}_id`
}

/** The field of `links` that refers to what the form guards against reading, and needs no permission. */
export const freeLink = 'free_id'

/** The records that decide lookups: who has a badge of which level. Nobody reads them. */
export const badges = [
  { user: 'ann', level: 'closed', isDeleted: false },
  { user: 'bob', level: 'open', isDeleted: false },
  { user: 'blue', level: 'open', isDeleted: false },
  { user: 'eve', level: 'open', isDeleted: true },
] as const

/** Declares the interface for a form. */
export function vaultOf(form: Form): InterfaceDeclaration {
  const links = actions.map((each) => {
    const field = Type.Optional(reference(collectionOf(each), { onDelete: 'clear' }))
    return [linkTo(each), field] as const
  })
  const free = Type.Optional(reference(collectionOf('read'), { onDelete: 'clear', requires: 'none' }))
  const everything = Object.fromEntries(actions.map((action) => [action, 'anyone' as const]))
  return {
    name: 'vault',
    versions: { v1: {}, v2: {} },
    changes: actions.map((each) => ({ version: 'v2', resource: collectionOf(each), rename: { grade: 'level' } })),
    resources: {
      parents: {
        fields: { owner_id: Type.String({ readOnly: true }) },
        owner: 'owner_id',
        access: { read: ['role:admin', 'owner'], create: 'anyone', update: 'owner' },
      },
      badges: {
        fields: { user: Type.String({ immutable: true }), level: Type.Enum(['open', 'closed'], { immutable: true }) },
        access: { read: 'nobody', create: 'role:admin', delete: 'role:admin' },
      },
      links: { fields: Object.fromEntries([...links, [freeLink, free]]), access: everything },
      ...Object.fromEntries(
        actions.map((action) => {
          const { [action]: _, ...others } = everything
          const access = form.rule === undefined ? others : { ...others, [action]: form.rule }
          return [collectionOf(action), { ...thing(), access }]
        }),
      ),
    },
  }
}

function thing() {
  return {
    fields: {
      title: Type.String({ filter: true, sort: true, search: true }),
      code: Type.Optional(Type.String({ unique: true })),
      level: Type.Enum(['open', 'closed']),
      holder: Type.Optional(Type.String({ filter: true })),
      note: Type.Optional(Type.String()),
      count: Type.Optional(Type.Integer()),
      owner_id: Type.String({ readOnly: true, filter: true }),
      parent_id: Type.Optional(reference('parents')),
    },
    owner: 'owner_id',
    within: 'parent_id',
    deletion: { byFilter: true },
    updates: { byFilter: true },
    history: true,
  } as const
}
