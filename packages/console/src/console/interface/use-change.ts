/** A change that a button or a small form makes, and what went wrong with it. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { notify } from '../ui/notices.tsx'
import { useConnection } from './connection.tsx'
import { Problem } from './problem.ts'
import { newIdempotencyKey, refreshAll } from './records.ts'
import type { ApiRequest, ApiResponse } from './send.ts'

interface Change {
  /**
   * Sends the request, and reads everything again; `undefined`: it was refused.
   *
   * @param done what to say when it was made
   */
  readonly change: <Body>(request: ApiRequest, done?: string) => Promise<ApiResponse<Body> | undefined>
  readonly problem: Problem | undefined
  readonly isSending: boolean
}

export function useChange(): Change {
  const connection = useConnection()
  const client = useQueryClient()
  const [problem, setProblem] = useState<Problem>()
  const [isSending, setSending] = useState(false)
  const change = async <Body>(request: ApiRequest, done?: string) => {
    setSending(true)
    setProblem(undefined)
    const key = request.method === 'POST' && { 'Idempotency-Key': newIdempotencyKey() }
    try {
      const response = await connection.send<Body>({ ...request, headers: { ...key, ...request.headers } })
      if (done !== undefined) notify('done', done)
      void refreshAll(client, connection)
      return response
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      setProblem(error)
      return undefined
    } finally {
      setSending(false)
    }
  }
  return { change, problem, isSending }
}
