/** What is wrong with single members of a body. */
import { escapeStep } from 'resourced-contract/model/place'
import { type Issue, IssueList } from 'resourced-contract/spec/faults'

/** An issue at a field: the message begins with the field's name. */
export function issue(code: Issue['code'], name: string, message: string): Issue {
  return { code, message: `${name} ${message}.`, pointer: `/${escapeStep(name)}` }
}

/** An issue for each member of a body that has no meaning there. */
export function unknownMembers(
  body: object,
  isKnown: (name: string) => boolean,
  issueOf: (name: string) => Issue,
): Issue[] {
  const issues = new IssueList()
  for (const name of Object.keys(body)) if (!isKnown(name)) issues.add(() => issueOf(name))
  return issues.all()
}
