/**
 * Removes mistakes from a proposed declaration: it is checked as any declaration is, and each word that is refused is
 * removed with a comment. So whatever a database contains, the result can be loaded.
 */
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import type { Problem } from 'resourced-contract/model/check/problem'
import { at } from 'resourced-contract/model/place'
import type { Proposal, ProposedResource } from './propose.ts'

/** The declaration as data. */
export function declarationOf({ name, resources }: Proposal): Record<string, unknown> {
  return {
    name,
    resources: Object.fromEntries(resources.map((resource) => [resource.name, resourceOf(resource)])),
  }
}

/** A resource as data. */
export function resourceOf({ description, fields, unique, within }: ProposedResource): Record<string, unknown> {
  return {
    ...(description === undefined || description === '' ? {} : { description }),
    fields: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    ...(within === undefined ? {} : { within }),
    ...(unique.length === 0 ? {} : { unique }),
  }
}

/** Repairs a proposal in place. Each round removes something, so it ends. */
export function repair(proposal: Proposal): void {
  for (let problems = check(proposal); problems.length > 0; problems = check(proposal)) {
    const before = JSON.stringify(declarationOf(proposal))
    for (const problem of problems) repairProblem(proposal, problem)
    dropEmpty(proposal)
    if (JSON.stringify(declarationOf(proposal)) !== before) continue
    throw new Error(`The declaration cannot be repaired: ${problems[0]?.path} ${problems[0]?.message}.`)
  }
}

function check(proposal: Proposal): Problem[] {
  return proposal.resources.length === 0 ? [] : checkDeclaration(declarationOf(proposal))
}

function repairProblem(proposal: Proposal, { path, message }: Problem): void {
  const resource = proposal.resources.find((each) => isAt(path, at('resources', each.name)))
  if (resource === undefined) return
  const inside = path.slice(at('resources', resource.name).length)
  const field = resource.fields.find((each) => isAt(inside, `.fields.${each.name}`))
  if (field === undefined) {
    if (isAt(inside, '.within')) resource.within = undefined
    const set = /^\.unique\[(\d+)\]/.exec(inside)?.[1]
    if (set === undefined) return
    const [removed] = resource.unique.splice(Number(set), 1)
    if (removed !== undefined) resource.comments.push(`Left out: the unique set ${removed.join(', ')}: it ${message}.`)
    return
  }
  const { schema, comments } = field
  const word = /^[.[]"?([\w$-]+)/.exec(inside.slice(`.fields.${field.name}`.length))?.[1]
  if (word !== undefined && Object.hasOwn(schema, word) && word !== 'type' && word !== 'reference') {
    comments.push(`Left out: ${word} ${JSON.stringify(schema[word])}, which ${message}.`)
    delete schema[word]
  } else if (/cannot be a filter/.test(message) && schema['filter'] !== false) {
    schema['filter'] = false
    comments.push(`Not a filter: it ${message}.`)
  } else if (/needed in a circle/.test(message) && schema['optional'] !== true) {
    schema['optional'] = true
    comments.push(`Optional here: the reference ${message}.`)
  } else {
    resource.fields = resource.fields.filter((each) => each !== field)
    resource.omissions.push(`Left out: the field ${field.name}: it ${message}.`)
  }
}

/** Removes resources without fields, and the references to them. */
function dropEmpty(proposal: Proposal): void {
  const empty = new Set(proposal.resources.filter(({ fields }) => fields.length === 0).map(({ name }) => name))
  if (empty.size === 0) return
  for (const name of empty) proposal.comments.push(`Left out: ${name}, of which no field fits.`)
  proposal.resources = proposal.resources.filter(({ name }) => !empty.has(name))
  for (const resource of proposal.resources) {
    resource.fields = resource.fields.filter(({ schema }) => !empty.has(String(schema['reference'])))
  }
  dropEmpty(proposal)
}

function isAt(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`)
}
