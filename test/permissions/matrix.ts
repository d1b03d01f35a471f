/**
 * The permission matrix (AUT-3 to AUT-7): every form of rule, caller, record and operation, against a model written by
 * hand. A part of it has every form of rule and every field that nobody may assign, and one of so many of the other
 * cells.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { checkAssignment } from './assignment.ts'
import { Cells } from './cells.ts'
import { checkCreateWays } from './create-cells.ts'
import { checkEvents } from './event-cells.ts'
import { forms } from './forms.ts'
import { checkListWays } from './list-cells.ts'
import { checkRecordWays } from './record-cells.ts'
import { Room } from './room.ts'

/** @param part how many cells one is checked of: 1 for the whole matrix */
export function checkMatrix(part: number): void {
  let count = 0

  for (const form of forms) {
    it(`AUT-3, AUT-4, AUT-5, AUT-6: access by a rule of the form: ${form.name}`, async (context) => {
      const room = await Room.open(form)
      context.after(() => room.close())
      const cells = new Cells(part)
      await checkListWays(room, cells)
      await checkRecordWays(room, cells)
      await checkCreateWays(room, cells)
      count += cells.count
      cells.conclude()
    })
  }

  for (const form of forms) {
    it(`EVT-4: events where records are read by a rule of the form: ${form.name}`, async (context) => {
      const cells = new Cells(part)
      await checkEvents(context, form, cells)
      count += cells.count
      cells.conclude()
    })
  }

  it('AUT-7, RES-9: no caller assigns a field that they may not assign', async (context) => {
    const cells = new Cells(part)
    await checkAssignment(context, cells)
    count += cells.count
    cells.conclude()
  })

  it('is complete', (context) => {
    context.diagnostic(`${count} cells`)
    assert.ok(count > 40_000 / part, `${count} cells`)
  })
}
