/**
 * How a list is scrolled that is higher than browsers draw an element. The element has the highest height, and the rest
 * of the list is hidden. The further down the scroll bar is, the more of the hidden pixels are above the screen. Small
 * steps move the rows by as much as the scroll bar, so that a key or a wheel passes no row. Large ones, as by dragging,
 * go to the part of the list where the scroll bar is.
 */

/** The highest element, in pixels. Firefox draws less than 17.9 million. */
export const highest = 15_000_000
/** So close to an end of the list, in pixels, the scroll bar moves by as much as the rows: no step passes the end. */
const even = 1_000_000
/** How far small steps may lead the scroll bar away from its place between the ends, in pixels: nobody sees less. */
const slack = 100_000
/** The largest small step, as a multiple of the height of the screen. */
const smallStep = 2

/** What can be scrolled, in pixels. */
export interface Extent {
  /** How far the scroll bar goes. */
  readonly most: number
  /** How much of the list is hidden. */
  readonly hidden: number
}

/** Where a list is, in pixels. */
export interface Position {
  readonly top: number
  /** How many hidden pixels are above the screen. */
  readonly above: number
}

/** How much of a list is hidden. */
export function hiddenHeight(height: number): number {
  return Math.max(0, height - highest)
}

/** Whether a step leads to another part of the list. */
export function isJump(before: Position, top: number, screen: number): boolean {
  return Math.abs(top - before.top) > smallStep * screen
}

/** Where the list is after the scroll bar has moved to `top`. */
export function scrolled(before: Position, top: number, { most, hidden }: Extent, screen: number): Position {
  const isAtEnd = top <= 0 || top >= most - 1
  const above = isAtEnd || isJump(before, top, screen) ? hiddenAbove(top, { most, hidden }) : before.above
  return { top, above: Math.min(above, hidden) }
}

/** The position of the scroll bar that belongs to the rows on the screen, where small steps have moved it away. */
export function settled(position: Position, { most, hidden }: Extent): Position {
  const place = position.top + position.above
  const share = (place - even) / (most + hidden - 2 * even)
  const at = (top: number): Position => (top === position.top ? position : { top, above: place - top })
  if (hidden === 0 || share <= 0) return at(place)
  if (share >= 1) return at(place - hidden)
  const top = Math.round(even + share * (most - 2 * even))
  return Math.abs(top - position.top) < slack ? position : at(top)
}

function hiddenAbove(top: number, { most, hidden }: Extent): number {
  const share = hidden === 0 ? 0 : (top - even) / (most - 2 * even)
  return Math.round(hidden * Math.min(1, Math.max(0, share)))
}
