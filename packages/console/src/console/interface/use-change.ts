/** A change that a button or a small form makes, and what went wrong with it. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnection } from './connection.tsx'
import { Problem } from './problem.ts'
import { refreshAll } from './records.ts'
import type { ApiRequest, ApiResponse } from './send.ts'

interface Change {
  /** Sends the request, and reads everything again; `undefined`: it was refused. */
  readonly change: <Body>(request: ApiRequest) => Promise<ApiResponse<Body> | undefined>
  readonly problem: Problem | undefined
  readonly isSending: boolean
}

export function useChange(): Change {
  const connection = useConnection()
  const client = useQueryClient()
  const [problem, setProblem] = useState<Problem>()
  const [isSending, setSending] = useState(false)
  const change = async <Body>(request: ApiRequest) => {
    setSending(true)
    setProblem(undefined)
    try {
      const response = await connection.send<Body>(request)
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
