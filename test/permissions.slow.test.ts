/**
 * The permission matrix (AUT-3 to AUT-7): every form of rule, caller, record and operation, against a model written by
 * hand.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkAssignment } from './permissions/assignment.ts'
import { Cells } from './permissions/cells.ts'
import { checkCreateWays } from './permissions/create-cells.ts'
import { checkEvents } from './permissions/event-cells.ts'
import { forms } from './permissions/forms.ts'
import { checkListWays } from './permissions/list-cells.ts'
import { checkRecordWays } from './permissions/record-cells.ts'
import { Room } from './permissions/room.ts'

describe('the permission matrix', () => {
  let count = 0

  for (const form of forms) {
    it(`AUT-3, AUT-4, AUT-5, AUT-6: access by a rule of the form: ${form.name}`, async (context) => {
      const room = await Room.open(form)
      context.after(() => room.close())
      const cells = new Cells()
      await checkListWays(room, cells)
      await checkRecordWays(room, cells)
      await checkCreateWays(room, cells)
      count += cells.count
      cells.conclude()
    })
  }

  for (const form of forms) {
    it(`EVT-4: events where records are read by a rule of the form: ${form.name}`, async (context) => {
      const cells = new Cells()
      await checkEvents(context, form, cells)
      count += cells.count
      cells.conclude()
    })
  }

  it('AUT-7, RES-9: no caller assigns a field that they may not assign', async (context) => {
    const cells = new Cells()
    await checkAssignment(context, cells)
    count += cells.count
    cells.conclude()
  })

  it('is complete', (context) => {
    context.diagnostic(`${count} cells`)
    assert.ok(count > 40_000, `${count} cells`)
  })
})
