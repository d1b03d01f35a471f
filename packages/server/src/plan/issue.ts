/** What is wrong with single members of a body. */
import { candidates } from 'resourced-contract/model/nearest'
import { escapeStep } from 'resourced-contract/model/place'
import { type Issue, IssueList, issue } from 'resourced-contract/spec/faults'

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

/** An issue for each member of a body that is none of the known ones. */
export function unsettableMembers(body: object, known: readonly string[]): Issue[] {
  const issueOf = (name: string) =>
    issue('unsettable', { pointer: `/${escapeStep(name)}`, names: candidates(name, known) })
  return unknownMembers(body, (name) => known.includes(name), issueOf)
}
