/** Ids that say which request made them: the same in each application that is asked the same (see `same-ids.ts`). */

let moment = 0
let request = 0
let made = 0

/** From here on, ids are those of a request. */
export function beginIds(at: number, number: number): void {
  moment = at
  request = number
  made = 0
}

/** Stands in for the package of that name. */
export function uuidv7(): string {
  const time = moment.toString(16).padStart(12, '0')
  const order = (made++).toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-8000-${request.toString(16).padStart(12, '0')}`
}
