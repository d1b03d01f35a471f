/** Business rules: what is refused with 409, and unless what. */
import { faults } from '../../spec/faults.ts'
import { suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { checkSynchronous } from './access.ts'
import { checkCondition } from './conditions.ts'
import { checkChoice, checkKeys, expectRecord, mustBe, own, type Report, show } from './problem.ts'
import type { ResourceView, ResourceViews } from './views.ts'

const triggers = ['create', 'update', 'delete', 'restore']
const example = "{ on: 'delete', code: 'PROJECT_IS_OPEN', message: '…', unless: { where: { status: 'done' } } }"

/** Checks the business rules of a resource. */
export function checkRules(report: Report, resource: ResourceView, resources: ResourceViews): void {
  const rules = own(resource.declared, 'rules')
  if (rules === undefined) return
  const path = at(resource.path, 'rules')
  if (!Array.isArray(rules)) {
    report(path, mustBe('an array of rules', rules), `Write [${example}].`)
    return
  }
  rules.forEach((rule: unknown, index) => {
    const place = item(path, index)
    if (!expectRecord(report, place, rule, example)) return
    checkTriggers(report, at(place, 'on'), rule.on)
    if (Object.hasOwn(rule, 'check')) checkFunction(report, place, rule)
    else checkDeclarative(report, place, rule, resource, resources)
  })
}

function checkTriggers(report: Report, path: string, on: unknown): void {
  const list = Array.isArray(on) ? on : [on]
  if (on === undefined || list.length === 0)
    report(path, 'must say when the rule is decided', 'Write create, update, delete or restore.')
  else
    list.forEach((each: unknown, index) => {
      checkChoice(report, Array.isArray(on) ? item(path, index) : path, each, triggers)
    })
}

function checkFunction(report: Report, path: string, rule: Readonly<Record<string, unknown>>): void {
  for (const key of ['code', 'message', 'unless']) {
    if (Object.hasOwn(rule, key))
      report(
        at(path, key),
        'does not go together with `check`',
        'Remove one of the two: `check` answers with the code.',
      )
  }
  checkKeys(report, path, rule, ['on', 'check', 'code', 'message', 'unless'])
  const place = at(path, 'check')
  if (typeof rule.check === 'function') checkSynchronous(report, place, rule.check)
  else
    report(
      place,
      mustBe('a function', rule.check),
      'Write `code`, `message` and `unless`, or a function in TypeScript.',
    )
}

function checkDeclarative(
  report: Report,
  path: string,
  rule: Readonly<Record<string, unknown>>,
  resource: ResourceView,
  resources: ResourceViews,
): void {
  checkKeys(report, path, rule, ['on', 'code', 'message', 'unless', 'check'])
  checkCode(report, at(path, 'code'), rule.code)
  if (typeof rule.message !== 'string' || rule.message.trim() === '') {
    report(at(path, 'message'), mustBe('a text', rule.message), 'Say what stands in the way and what to do about it.')
  }
  checkUnless(report, at(path, 'unless'), rule.unless, resource, resources)
}

/** The form of the codes that business rules answer with. */
export const ownCode = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/

function checkCode(report: Report, path: string, code: unknown): void {
  if (typeof code !== 'string' || !ownCode.test(code)) {
    const better =
      typeof code === 'string'
        ? code
            .slice(0, 60)
            .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
            .toUpperCase()
            .replace(/[^A-Z0-9]+/g, '_')
            .replace(/^[_0-9]+|_+$/g, '')
        : ''
    const remedy = `Write "${better === '' ? 'PROJECT_HAS_OPEN_TASKS' : better}".`
    report(path, mustBe('UPPER_CASE_WITH_UNDERSCORES', code), remedy)
  } else if (Object.hasOwn(faults, code)) {
    report(path, `is a code that the interface itself answers with: ${code}`, 'Choose a code of your own.')
  }
}

function checkUnless(
  report: Report,
  path: string,
  unless: unknown,
  resource: ResourceView,
  resources: ResourceViews,
): void {
  if (!expectRecord(report, path, unless, "unless: { none: 'tasks', where: { … } }")) return
  checkKeys(report, path, unless, ['none', 'some', 'where'])
  const both = unless.none !== undefined && unless.some !== undefined
  if (both) report(at(path, 'some'), 'does not go together with `none`', 'Write two rules.')
  const word = unless.none === undefined ? 'some' : 'none'
  const collection = unless[word]
  const judged =
    collection === undefined ? resource : typeof collection === 'string' ? resources.get(collection) : undefined
  if (judged === undefined) {
    const remedy = suggest(typeof collection === 'string' ? collection : '', resources.keys())
    report(at(path, word), `is no collection: ${show(collection)}`, remedy)
  }
  if (!Object.hasOwn(unless, 'where'))
    report(at(path, 'where'), 'is missing', 'Write the condition, such as where: { status: "open" }.')
  else if (judged !== undefined && !both)
    checkCondition(report, at(path, 'where'), unless.where, { resource: judged, record: resource })
}
