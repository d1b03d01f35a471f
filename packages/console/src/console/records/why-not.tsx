/** Why the caller may not do something: the declared rules of the action, in words. */
import type { ReactNode } from 'react'
import { type Collection, labelOf } from '../interface/catalog.ts'
import { type Action, type Rule, useConnection } from '../interface/connection.tsx'

interface Props {
  readonly collection: Collection
  readonly action: Action
}

const verbs: Readonly<Record<Action, string>> = {
  read: 'read',
  create: 'create',
  update: 'change',
  delete: 'delete',
  restore: 'restore',
  read_deleted: 'see deleted',
  read_history: 'see the history of',
}

export function WhyNot({ collection, action }: Props): ReactNode {
  const permission = useConnection().caller.permissions[collection.name]?.[action]
  if (permission === undefined) return null
  const rules = permission.rules.map(ruleInWords)
  return (
    <p className="quiet">
      {rules.length === 0
        ? `Only administrators may ${verbs[action]} ${labelOf(collection.name).toLowerCase()}: no rule is declared.`
        : `You may ${verbs[action]} ${labelOf(collection.name).toLowerCase()} only if ${rules.join(', or if ')}.`}
    </p>
  )
}

function ruleInWords(rule: Rule): string {
  if (typeof rule !== 'string') {
    if ('all' in rule) return (rule['all'] as readonly Rule[]).map(ruleInWords).join(' and ')
    for (const [word, found] of [
      ['some', 'a record'],
      ['none', 'no record'],
    ] as const) {
      if (!(word in rule)) continue
      return `${labelOf(String(rule[word])).toLowerCase()} has ${found} with ${conditionInWords(rule['where'])}`
    }
    if ('where' in rule) return `the record is ${conditionInWords(rule['where'])}`
    return `you may ${rule['action']} the record in its field ${rule['through']}`
  }
  if (rule.startsWith('role:')) return `you have the role ${rule.slice('role:'.length)}`
  if (rule === 'owner') return 'you are the owner of the record'
  if (rule === 'anyone') return 'you are signed in'
  if (rule === 'nobody') return 'the declaration is changed: it permits nobody'
  if (rule === 'function') return 'a function of the declaration allows it'
  return 'a condition of the declaration holds'
}

function conditionInWords(condition: unknown): string {
  if (typeof condition !== 'object' || condition === null) return JSON.stringify(condition)
  return Object.entries(condition)
    .map(([field, value]) => {
      if (field === 'and' || field === 'or') {
        return `(${(value as unknown[]).map(conditionInWords).join(` ${field} `)})`
      }
      if (field === 'not') return `not ${conditionInWords(value)}`
      return `${field} = ${JSON.stringify(value)}`
    })
    .join(' and ')
}
