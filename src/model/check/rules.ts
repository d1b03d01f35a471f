/** Checks business rules: changes that are refused with 409 unless a condition holds. */
import { faults } from '../../spec/fault-entries.ts'
import { checkCondition } from './conditions.ts'
import type { Part, ResourceView, ResourceViews } from './parts.ts'
import { show } from './problem.ts'

const triggers = ['create', 'update', 'delete', 'restore']
const example = "{ on: 'delete', code: 'PROJECT_IS_OPEN', message: '…', unless: { where: { status: 'done' } } }"

/** Checks the business rules of a resource. */
export function checkRules(resource: ResourceView, resources: ResourceViews): void {
  const rules = resource.part.key('rules')
  if (!rules.isAbsent && !Array.isArray(rules.value)) rules.mustBe('an array of rules', `Write [${example}].`)
  for (const rule of rules.items()) {
    if (!rule.object(example)) continue
    checkTriggers(rule.key('on'))
    if (Object.hasOwn(rule.record, 'check')) checkFunction(rule)
    else checkDeclarative(rule, resource, resources)
  }
}

function checkTriggers(on: Part): void {
  const all = Array.isArray(on.value) ? on.items() : [on]
  if (on.isAbsent || all.length === 0) {
    on.report('must say when the rule is decided', 'Write create, update, delete or restore.')
  } else for (const each of all) each.choice(triggers)
}

function checkFunction(rule: Part): void {
  for (const key of ['code', 'message', 'unless']) {
    if (!Object.hasOwn(rule.record, key)) continue
    rule.key(key).report('does not go together with `check`', 'Remove one of the two: `check` answers with the code.')
  }
  rule.keys(['on', 'check', 'code', 'message', 'unless'])
  const check = rule.key('check')
  if (typeof check.value === 'function') check.synchronous()
  else check.mustBe('a function', 'Write `code`, `message` and `unless`, or a function in TypeScript.')
}

function checkDeclarative(rule: Part, resource: ResourceView, resources: ResourceViews): void {
  rule.keys(['on', 'code', 'message', 'unless', 'check'])
  checkCode(rule.key('code'))
  const message = rule.key('message')
  if (message.text.trim() === '') message.mustBe('a text', 'Say what stands in the way and what to do about it.')
  checkUnless(rule.key('unless'), resource, resources)
}

/** The form of the error codes of business rules. */
export const ruleCodeForm = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/

function checkCode(code: Part): void {
  const { text } = code
  if (!ruleCodeForm.test(text)) {
    const better = text
      .slice(0, 60)
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^[_0-9]+|_+$/g, '')
    code.mustBe('UPPER_CASE_WITH_UNDERSCORES', `Write "${better === '' ? 'PROJECT_HAS_OPEN_TASKS' : better}".`)
  } else if (Object.hasOwn(faults, text)) {
    code.report(`is a code that the interface itself answers with: ${text}`, 'Choose a code of your own.')
  }
}

function checkUnless(unless: Part, resource: ResourceView, resources: ResourceViews): void {
  if (!unless.object("unless: { none: 'tasks', where: { … } }")) return
  unless.keys(['none', 'some', 'where'])
  const [none, some, where] = [unless.key('none'), unless.key('some'), unless.key('where')]
  const both = !none.isAbsent && !some.isAbsent
  if (both) some.report('does not go together with `none`', 'Write two rules.')
  const collection = none.isAbsent ? some : none
  const judged = collection.isAbsent ? resource : resources.get(collection.text)
  if (judged === undefined) collection.unknown(`is no collection: ${show(collection.value)}`, resources.keys())
  if (!Object.hasOwn(unless.record, 'where')) {
    where.report('is missing', 'Write the condition, such as where: { status: "open" }.')
  } else if (judged !== undefined && !both) checkCondition(where, { resource: judged, record: resource })
}
