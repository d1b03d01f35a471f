/** MET-4: PATCH changes. */
import type { Body } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { applicableWhere, done, refused, sameBody, short, status } from '../../case/expect.ts'
import { after, before as beforeStep, one, other, patch } from '../../case/names.ts'
import { differing, holdsSent, recordOf, sentAt, theRecord } from '../../case/records.ts'
import { collection, idMember, members } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'
import { isObject, isSame } from '../../values/json.ts'
import { onlyWhereOptional } from './replacement.ts'

const change: Body = { from: 'change' }
const mergePatch = { 'Content-Type': 'application/merge-patch+json' }
const jsonPatch = { 'Content-Type': 'application/json-patch+json' }

const full = [create(other), setUp(one.post(collection, body.fullExample)), setUp(beforeStep.get(one))]

/** The optional member has no value any more. */
const isCleared = theRecord(after, 'has no value for what was cleared', (found, seen) => {
  const member = seen.fill(members.optional)
  const value = found[member]
  return value === undefined || value === null ? undefined : { member, message: `${member} is ${short(value)}` }
})

export const changes = define(
  {
    'MET-4/status': {
      title: 'PATCH is answered 200',
      steps: [create(one), patch.patch(one, change)],
      expect: [status(patch, 200)],
      remedy: 'Answer PATCH with 200 and the record as it is now.',
    },
    'MET-4/answer': {
      title: 'The answer to PATCH holds the record as it is now',
      steps: [create(one), patch.patch(one, change)],
      expect: [holdsSent(patch, patch)],
      remedy: 'Read the record after it was written, and answer with that.',
    },
    'MET-4/kept': {
      title: 'What PATCH has changed is so afterwards',
      steps: [create(one), setUp(patch.patch(one, change)), after.get(one)],
      expect: [status(after, 200), holdsSent(after, patch)],
      remedy: 'Store all members that are sent, and refuse what cannot be stored.',
    },
    'MET-4/others': {
      title: 'PATCH leaves alone what it does not send',
      steps: [...full, setUp(patch.patch(one, change)), after.get(one)],
      expect: [
        status(after, 200),
        theRecord(after, 'has all else as before', (found, seen) => {
          const before = recordOf(seen.of(beforeStep).answer, seen) ?? {}
          const sent = sentAt(seen, patch)
          const names = [...Object.keys(sentAt(seen, one)), seen.collection.id]
          return differing(
            found,
            before,
            names.filter((name) => !Object.hasOwn(sent, name)),
          )
        }),
      ],
      remedy: 'Write only the members that are in the body: what is not there is not null.',
    },
    'MET-4/merge-patch': {
      title: 'PATCH takes application/merge-patch+json',
      after: ['MET-4/kept'],
      // The specification asks for JSON; the name of the format is our decision.
      level: 'should',
      steps: [create(one), patch.patch(one, change, { headers: mergePatch }), after.get(one)],
      expect: [done(patch), holdsSent(after, patch)],
      remedy: 'Read application/merge-patch+json (RFC 7396) as plain JSON is read: it says what is meant.',
    },
    'MET-4/null': {
      title: 'PATCH with null clears a member',
      // RFC 7396 is our decision; the specification says only that what is sent is changed.
      level: 'should',
      steps: [...full, patch.patch(one, body.json({ [members.optional]: null })), after.get(one)],
      expect: [onlyWhereOptional, done(patch), isCleared],
      remedy: 'Take null in PATCH as "no value" (RFC 7396), not as "not sent".',
    },
    'MET-4/nested': {
      title: 'PATCH of a part of a member that is an object leaves its other parts alone',
      level: 'should',
      steps: [...full, patch.patch(one, body.part), after.get(one)],
      expect: [
        applicableWhere('the member is shown', (seen) =>
          isObject(recordOf(seen.of(beforeStep).answer, seen)?.[seen.fill(members.object)])
            ? undefined
            : 'no member that is an object is shown',
        ),
        done(patch),
        theRecord(after, 'has the whole object', (found, seen) => {
          const member = seen.fill(members.object)
          const before = recordOf(seen.of(beforeStep).answer, seen)?.[member]
          return isSame(found[member], before)
            ? undefined
            : { member, message: `${member} is ${short(found[member])} in place of ${short(before)}` }
        }),
      ],
      remedy: 'Merge objects member by member (RFC 7396), rather than putting the new one in place of the old.',
    },
    'MET-4/json-patch': {
      title: 'PATCH takes application/json-patch+json',
      // Beyond the specification.
      level: 'may',
      steps: [
        ...full,
        patch.patch(one, body.json([{ op: 'remove', path: `/${members.optional}` }]), { headers: jsonPatch }),
        after.get(one),
      ],
      expect: [onlyWhereOptional, done(patch), isCleared],
      remedy: 'Carry out JSON Patch (RFC 6902) too: it can test, and change parts of arrays.',
    },
    'MET-4/json-patch-test': {
      title: 'A JSON Patch of which one operation fails changes nothing',
      after: ['MET-4/json-patch'],
      level: 'may',
      steps: [
        ...full,
        patch.patch(
          one,
          body.json([
            { op: 'remove', path: `/${members.optional}` },
            { op: 'test', path: `/${idMember}`, value: one.otherId },
          ]),
          { headers: jsonPatch },
        ),
        after.get(one),
      ],
      expect: [onlyWhereOptional, refused(patch), sameBody(after, beforeStep)],
      remedy:
        'Apply all operations to a copy, and store it only where none has failed (RFC 5789 section 2, RFC 6902 section 5).',
    },
  },
  'read',
)
