/** The forms of access rules, each with what it says written again by hand: nothing here knows of predicates. */
import type { AccessRule } from 'resourced-contract/model/declaration'
import type { Caller } from './callers.ts'
import { badges } from './vault.ts'

/** What a rule can look at. */
export interface Subject {
  readonly owner_id: string
  readonly level: 'open' | 'closed'
  readonly holder: string | null
  /** Whose the live parent is; `undefined`: there is none. */
  readonly parentOwner: string | undefined
}

/** A form of rule. */
export interface Form {
  readonly name: string
  /** `undefined`: not declared. */
  readonly rule: AccessRule | readonly AccessRule[] | undefined
  /** Whether there could be a record that it allows the caller. */
  lets(caller: Caller): boolean
  /** Whether it allows the caller this one. */
  allows(caller: Caller, subject: Subject): boolean
  /** Whether it reads through `parent_id`, so that moving a record is judged anew. */
  readonly isThrough?: boolean
  /** Whether it looks up other records by the level, so that a change of it is judged anew. */
  readonly isByLevel?: boolean
}

const everyone = () => true
const noOne = () => false
const hasBadge = (name: string | undefined, of: Pick<Subject, 'level'>) =>
  badges.some(({ user, level, isDeleted }) => user === name && level === of.level && !isDeleted)
const badgeOf = (who: 'id' | 'claims.team') => ({ user: { caller: who }, level: { record: 'level' } })

/** What an action that is not the one in question is declared as. */
export const anyone: Form = { name: 'anyone', rule: 'anyone', lets: everyone, allows: everyone }

export const forms: readonly Form[] = [
  anyone,
  { name: 'nobody', rule: 'nobody', lets: noOne, allows: noOne },
  { name: 'owner', rule: 'owner', lets: everyone, allows: ({ id }, { owner_id }) => owner_id === id },
  { name: 'role', rule: 'role:editor', lets: ({ isEditor }) => isEditor, allows: ({ isEditor }) => isEditor },
  {
    name: 'where on a field',
    rule: { where: { level: 'open' } },
    lets: everyone,
    allows: (_, { level }) => level === 'open',
  },
  {
    name: 'where on the caller',
    rule: { where: { holder: { caller: 'id' } } },
    lets: everyone,
    allows: ({ id }, { holder }) => holder === id,
  },
  {
    name: 'where on a claim',
    rule: { where: { holder: { caller: 'claims.team' } } },
    lets: ({ team }) => team !== undefined,
    allows: ({ team }, { holder }) => team !== undefined && holder === team,
  },
  {
    name: 'through',
    rule: { through: 'parent_id', action: 'update' },
    lets: everyone,
    allows: ({ id }, { parentOwner }) => parentOwner === id,
    isThrough: true,
  },
  {
    name: 'through or where',
    rule: [{ through: 'parent_id', action: 'update' }, { where: { holder: { caller: 'id' }, level: 'open' } }],
    lets: everyone,
    allows: ({ id }, { parentOwner, holder, level }) => parentOwner === id || (holder === id && level === 'open'),
    isThrough: true,
  },
  {
    name: 'where on a claim, or on a field',
    rule: { where: { or: [{ holder: { caller: 'claims.team' } }, { level: 'open' }] } },
    lets: everyone,
    allows: ({ team }, { holder, level }) => level === 'open' || (team !== undefined && holder === team),
  },
  {
    name: 'where not',
    rule: { where: { not: { holder: { caller: 'id' } } } },
    lets: everyone,
    allows: ({ id }, { holder }) => holder !== null && holder !== id,
  },
  {
    name: 'function',
    rule: (caller) => caller.roles.includes('editor') && { level: 'open' },
    lets: ({ isEditor }) => isEditor,
    allows: ({ isEditor }, { level }) => isEditor && level === 'open',
  },
  {
    name: 'two',
    rule: ['owner', { where: { level: 'open' } }],
    lets: everyone,
    allows: ({ id }, { owner_id, level }) => owner_id === id || level === 'open',
  },
  {
    name: 'some',
    rule: { some: 'badges', where: badgeOf('id') },
    lets: everyone,
    allows: ({ id }, subject) => hasBadge(id, subject),
    isByLevel: true,
  },
  {
    name: 'none',
    rule: { none: 'badges', where: badgeOf('id') },
    lets: everyone,
    allows: ({ id }, subject) => !hasBadge(id, subject),
    isByLevel: true,
  },
  {
    name: 'none by a claim, or owner',
    rule: ['owner', { none: 'badges', where: badgeOf('claims.team') }],
    lets: everyone,
    allows: ({ id, team }, { owner_id, level }) =>
      owner_id === id || (team !== undefined && !hasBadge(team, { level })),
    isByLevel: true,
  },
  {
    name: 'all',
    rule: { all: ['owner', { where: { level: 'open' } }] },
    lets: everyone,
    allows: ({ id }, { owner_id, level }) => owner_id === id && level === 'open',
  },
  {
    name: 'all of a lookup and a function, or through',
    rule: [
      { all: [{ some: 'badges', where: badgeOf('id') }, (caller) => !caller.roles.includes('editor')] },
      { all: [{ through: 'parent_id', action: 'update' }, { where: { level: 'closed' } }] },
    ],
    lets: everyone,
    allows: ({ id, isEditor }, subject) =>
      (!isEditor && hasBadge(id, subject)) || (subject.parentOwner === id && subject.level === 'closed'),
    isThrough: true,
    isByLevel: true,
  },
  {
    name: 'undeclared',
    rule: undefined,
    lets: ({ isAdministrator }) => isAdministrator,
    allows: ({ isAdministrator }) => isAdministrator,
  },
]
