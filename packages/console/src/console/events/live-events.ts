/** The events that have arrived since somebody began to follow them. */
import { useEffect, useRef, useState } from 'react'
import { followEvents } from 'resourced-client/parts'
import { useConnection } from '../interface/connection.tsx'
import { Problem } from '../interface/problem.ts'
import type { RecordEvent } from './event.tsx'

/** The most events of a view that follows. */
export const mostFollowed = 200
/** How long events are collected before they are drawn, in milliseconds: an import causes thousands at once. */
const drawnEvery = 250

interface LiveEvents {
  /** Newest first. */
  readonly events: readonly RecordEvent[]
  readonly isOpen: boolean
  /** Why nothing is followed any more. */
  readonly problem: Problem | undefined
}

const nothing: LiveEvents = { events: [], isOpen: false, problem: undefined }

/**
 * Follows the events that match a filter.
 *
 * @param filter `undefined`: nothing is followed
 * @param onOpen reads what happened before
 */
export function useLiveEvents(filter: string | undefined, onOpen: () => void): LiveEvents {
  const connection = useConnection()
  const [live, setLive] = useState(nothing)
  const opened = useRef(onOpen)
  opened.current = onOpen
  useEffect(() => {
    setLive(nothing)
    if (filter === undefined) return
    const stop = new AbortController()
    let arrived: RecordEvent[] = []
    const draw = () => {
      const newest = arrived.reverse()
      arrived = []
      if (newest.length > 0) {
        setLive((before) => ({ ...before, events: [...newest, ...before.events].slice(0, mostFollowed) }))
      }
    }
    const timer = setInterval(draw, drawnEvery)
    const setOpen = (isOpen: boolean) => setLive((before) => ({ ...before, isOpen }))
    const onEvent = (event: RecordEvent) => {
      arrived.push(event)
      // A tab in the background draws rarely.
      if (arrived.length > 2 * mostFollowed) arrived = arrived.slice(-mostFollowed)
    }
    const query = new URLSearchParams(filter)
    const eventsFrom = followEvents(async ({ headers, signal }) => {
      // It is aborted as soon as the connection is lost.
      signal?.addEventListener('abort', () => setOpen(false))
      const answer = await connection.send<Response>({ path: '/events', query, headers, signal, stream: true })
      setOpen(true)
      // Events before a stream that resumes nothing do not arrive.
      if (!('last-event-id' in headers)) opened.current()
      return { ...answer, text: '' }
    })
    const follow = async () => {
      for await (const event of eventsFrom({ signal: stop.signal })) onEvent(event as RecordEvent)
    }
    const refused = (problem: unknown): unknown => {
      if (stop.signal.aborted || !(problem instanceof Problem)) return
      if (problem.code === 'EVENTS_EXPIRED') return follow().catch(refused)
      setLive({ ...nothing, problem })
    }
    follow().catch(refused)
    return () => {
      stop.abort()
      clearInterval(timer)
    }
  }, [connection, filter])
  return live
}
