/** The file of an export: downloads it, or says how, where it is too large for this browser. */
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { useConnection } from '../interface/connection.tsx'
import { rootUrl } from '../interface/page-settings.ts'
import { Problem } from '../interface/problem.ts'
import { ProblemView } from '../ui/problem-view.tsx'
import { canSave, isSmall, openFile, sizeOf } from '../ui/save-file.ts'
import { download } from './download.ts'
import type { Job } from './job.ts'

interface Props {
  readonly id: string
  readonly result: NonNullable<Job['result']>
  /** Whether a small file is downloaded at once. */
  readonly atOnce?: boolean
}

export function ExportFile({ id, result, atOnce = false }: Props): ReactNode {
  const { send, version } = useConnection()
  const [arrived, setArrived] = useState<number>()
  const [problem, setProblem] = useState<Problem>()
  const stop = useRef(new AbortController())
  const bytes = Number(result['bytes'])
  const name = `${result['collection']}-${id.slice(-8)}.${result['format']}`
  const path = `/exports/${id}/content`
  const start = useCallback(async () => {
    setProblem(undefined)
    try {
      const file = await openFile(name, bytes)
      setArrived(0)
      try {
        await download(send, { path, bytes, signal: stop.current.signal, onProgress: setArrived }, file)
        await file.close()
      } catch (error) {
        await file.abort()
        throw error
      }
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return
      setProblem(error instanceof Problem ? error : new Problem(0, { detail: String(error) }))
    } finally {
      setArrived(undefined)
    }
  }, [send, path, name, bytes])
  useEffect(() => {
    if (atOnce && isSmall(bytes)) void start()
  }, [atOnce, bytes, start])
  useEffect(() => () => stop.current.abort(), [])
  if (!canSave(bytes)) {
    const url = new URL(`${version.base === '' ? '' : `${version.base}/`}${path.slice(1)}`, rootUrl)
    return (
      <>
        <p>This browser cannot save {sizeOf(bytes)}. This command does, and resumes after an interruption:</p>
        <pre>{`curl -g -C - -o ${name} '${url}' \\\n  -H "Authorization: Bearer $KEY"`}</pre>
      </>
    )
  }
  return (
    <>
      <button type="button" disabled={arrived !== undefined} onClick={() => void start()}>
        {arrived === undefined ? `Download (${sizeOf(bytes)})` : `${sizeOf(arrived)} of ${sizeOf(bytes)}`}
      </button>
      {problem !== undefined && <ProblemView problem={problem} />}
    </>
  )
}
