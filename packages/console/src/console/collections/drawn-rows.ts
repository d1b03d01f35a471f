/** Which rows of a list are drawn, and where. All rows have the same height, so that finding them is a division. */
import { type RefObject, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { type Extent, hiddenHeight, highest, isJump, type Position, scrolled, settled } from './scroll-scale.ts'

/** In pixels. */
export const rowHeight = 38
/** Rows beyond the screen that are drawn too, so that fast scrolling shows no gaps. */
const overscan = 12
/** How long the scroll bar rests after a jump before pages are read there, in milliseconds. */
const pause = 100

/** The rows that are drawn, and the room of the others. */
export interface DrawnRows {
  /** The first row that is drawn, counted from 0, and the first one after it that is not. */
  readonly first: number
  readonly end: number
  /** The height before and after the rows that are drawn, in pixels. */
  readonly before: number
  readonly after: number
  /** Whether somebody drags the scroll bar past these rows. */
  readonly isPassing: boolean
}

interface Drawn {
  readonly first: number
  readonly end: number
  /** How many hidden pixels are above. */
  readonly above: number
  readonly isPassing: boolean
}

/**
 * @param count how many rows the list has
 * @param kept where the list is; it begins there, and the position is noted there
 */
export function useDrawnRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  kept: { position: Position },
): DrawnRows {
  const [drawn, setDrawn] = useState<Drawn>(() => ({
    ...{ first: 0, end: 2 * overscan, isPassing: false },
    above: kept.position.above,
  }))
  const height = count * rowHeight
  const hidden = hiddenHeight(height)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    let resting: ReturnType<typeof setTimeout> | undefined
    const extent = (): Extent => ({ most: element.scrollHeight - element.clientHeight, hidden })
    const show = (position: Position, isPassing: boolean) => {
      kept.position = position
      const top = position.top + position.above
      const first = Math.max(0, Math.floor(top / rowHeight) - overscan)
      const end = Math.ceil((top + element.clientHeight) / rowHeight) + overscan
      const next: Drawn = { first, end, above: position.above, isPassing }
      // A row that is not drawn any more cannot have the focus: the table takes it, so that keys still scroll.
      const focused = Number(document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? first)
      if ((focused < first || focused >= end) && element.contains(document.activeElement)) {
        element.focus({ preventScroll: true })
      }
      setDrawn((now) => (JSON.stringify(now) === JSON.stringify(next) ? now : next))
    }
    const measure = () => {
      const { scrollTop: top, clientHeight } = element
      const { position } = kept
      if (isJump(position, top, clientHeight)) {
        clearTimeout(resting)
        resting = setTimeout(() => {
          resting = undefined
          setDrawn((now) => ({ ...now, isPassing: false }))
        }, pause)
      }
      show(scrolled(position, top, extent(), clientHeight), resting !== undefined)
    }
    const rest = () => {
      // The event of the last step may be still to come.
      measure()
      const position = settled(kept.position, extent())
      if (position === kept.position) return
      // The rows and the scroll bar move together, before the next frame.
      flushSync(() => show(position, resting !== undefined))
      element.scrollTop = position.top
    }
    element.scrollTop = kept.position.top
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    element.addEventListener('scrollend', rest)
    return () => {
      clearTimeout(resting)
      observer.disconnect()
      element.removeEventListener('scroll', measure)
      element.removeEventListener('scrollend', rest)
    }
  }, [scroller, hidden, kept])
  const [first, end] = [Math.min(drawn.first, count), Math.min(drawn.end, count)]
  const before = Math.max(0, first * rowHeight - drawn.above)
  return {
    ...{ first, end, before, isPassing: drawn.isPassing },
    after: Math.max(0, Math.min(height, highest) - before - (end - first) * rowHeight),
  }
}
