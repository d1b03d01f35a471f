/** Creates records from a file: choose it, say which column is which field, and watch. */
import { useQueryClient } from '@tanstack/react-query'
import { type DragEvent, type ReactNode, useState } from 'react'
import { type Collection, labelOf } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import { refreshAll } from '../interface/records.ts'
import { WhyNot } from '../records/why-not.tsx'
import { notify } from '../ui/notices.tsx'
import { ImportProgress } from './import-progress.tsx'
import { type ImportRun, startImport } from './import-run.ts'
import { MappingForm } from './mapping-form.tsx'
import { openSource, type Source } from './source.ts'

// An import goes on while its reader looks at other views.
const runs = new Map<string, ImportRun>()

export default function ImportView({ collection }: { readonly collection: Collection }): ReactNode {
  const connection = useConnection()
  const client = useQueryClient()
  const key = `${connection.version.name}/${collection.name}`
  const [run, setRun] = useState(() => runs.get(key))
  const [source, setSource] = useState<Source>()
  if (collection.made !== 'by-clients' || grantOf(connection, collection.name, 'create') === 'none') {
    return <WhyNot collection={collection} action="create" />
  }
  const open = async (file: File | undefined, chosen?: Parameters<typeof openSource>[1]) => {
    if (file === undefined) return
    try {
      setSource(await openSource(file, chosen))
    } catch (error) {
      notify('failed', `The file cannot be read: ${error}`)
    }
  }
  return (
    <>
      <h1>
        <a className="quiet" href={`#/${collection.name}`}>
          {labelOf(collection.name)}
        </a>{' '}
        Import
      </h1>
      {run !== undefined ? (
        <ImportProgress
          run={run}
          onLeave={() => {
            runs.delete(key)
            setRun(undefined)
            setSource(undefined)
          }}
        />
      ) : source === undefined ? (
        <FileChooser collection={collection} onFile={(file) => void open(file)} />
      ) : (
        <MappingForm
          // Another delimiter means other columns.
          key={`${source.delimiter}${source.encoding}`}
          collection={collection}
          source={source}
          onReopen={(chosen) => void open(source.file, chosen)}
          onCancel={() => setSource(undefined)}
          onStart={(chosen) => {
            const onEnd = ({ state }: ImportRun) => {
              const { created, refused } = state.current()
              const text = `Import into ${collection.name}: ${created} created, ${refused} refused.`
              notify(refused > 0 ? 'failed' : 'done', text)
              void refreshAll(client, connection)
            }
            const { send } = connection
            const started = startImport({ send, collection, source, ...chosen, onEnd })
            runs.set(key, started)
            setRun(started)
          }}
        />
      )}
    </>
  )
}

interface ChooserProps {
  readonly collection: Collection
  readonly onFile: (file: File | undefined) => void
}

function FileChooser({ collection, onFile }: ChooserProps): ReactNode {
  const drop = (event: DragEvent) => {
    event.preventDefault()
    onFile(event.dataTransfer.files[0])
  }
  return (
    <>
      <label className="card drop" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
        Drop a CSV, JSON or NDJSON file here, or choose one.
        <input
          type="file"
          accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl"
          onChange={({ target }) => onFile(target.files?.[0])}
        />
      </label>
      <p className="quiet">
        The page sends one request for each record, within the server's rate limit. For millions of records, run{' '}
        <code>npx resourced import {collection.name} FILE</code> on the server.
      </p>
    </>
  )
}
