/** The form that makes or changes a webhook. */
import { type FormEvent, type ReactNode, useId } from 'react'
import { readJson } from '../forms/exact-json.ts'
import { useConnection } from '../interface/connection.tsx'
import { recordPath } from '../interface/records.ts'
import { useChange } from '../interface/use-change.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import type { Webhook } from './webhook.tsx'

interface Props {
  /** `undefined`: a new one is made. */
  readonly webhook?: Webhook
  readonly onClose: () => void
  /** @param saved of a new webhook, with its secret */
  readonly onSaved: (saved: Webhook) => void
}

/** The kinds of events. */
export const kinds = ['created', 'updated', 'deleted', 'restored', 'purged']

export function WebhookForm({ webhook, onClose, onSaved }: Props): ReactNode {
  const { catalog } = useConnection()
  const ids = useId()
  const { change, problem, isSending } = useChange()
  const collections = (catalog.collections.get('events')?.field.get('collection')?.schema.enum ?? []).map(String)
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const body = bodyOf(event.currentTarget)
    if (body === undefined) return
    const saved = await change<Webhook>(
      webhook === undefined
        ? { method: 'POST', path: '/webhooks', body }
        : {
            ...{ method: 'PATCH', path: recordPath('webhooks', webhook.id), body },
            headers: { 'Content-Type': 'application/merge-patch+json' },
          },
    )
    if (saved !== undefined) onSaved(saved.body)
  }
  const { url, events = kinds, collections: chosen, filter } = webhook ?? {}
  const description = webhook?.['description']
  return (
    <Dialog title={webhook === undefined ? 'New webhook' : 'Edit the webhook'} onClose={onClose}>
      <form className="sign-in" onSubmit={(event) => void save(event)}>
        <label htmlFor={`${ids}-url`}>Address</label>
        <input
          {...{ id: `${ids}-url`, name: 'url', type: 'url', required: true, autoComplete: 'off', maxLength: 2_000 }}
          defaultValue={url}
          placeholder="https://example.com/events"
        />
        <Choices legend="Events" name="events" values={kinds} chosen={events} />
        <Choices legend="Collections: none means all" name="collections" values={collections} chosen={chosen ?? []} />
        <label htmlFor={`${ids}-filter`}>Filter by collection, as JSON</label>
        <textarea
          {...{ id: `${ids}-filter`, name: 'filter', className: 'json', rows: 3, spellCheck: false }}
          defaultValue={filter ? JSON.stringify(filter, null, 2) : ''}
          placeholder={`{"${collections[0]}": {"field": "value"}}`}
          onInput={(event) => event.currentTarget.setCustomValidity('')}
        />
        <label htmlFor={`${ids}-description`}>Description</label>
        <input
          {...{ id: `${ids}-description`, name: 'description', autoComplete: 'off', maxLength: 500 }}
          defaultValue={typeof description === 'string' ? description : ''}
        />
        {problem !== undefined && <ProblemView problem={problem} />}
        <button type="submit" className="primary" disabled={isSending}>
          {webhook === undefined ? 'Create' : 'Save'}
        </button>
      </form>
    </Dialog>
  )
}

/** The body of the request; `undefined`: the form says what is wrong. */
function bodyOf(form: HTMLFormElement): object | undefined {
  const data = new FormData(form)
  const text = (name: string) => String(data.get(name) ?? '').trim()
  const collections = data.getAll('collections')
  try {
    return {
      url: text('url'),
      events: data.getAll('events'),
      collections: collections.length === 0 ? null : collections,
      filter: text('filter') === '' ? null : readJson(text('filter')),
      description: text('description') || null,
    }
  } catch (error) {
    const input = form.elements.namedItem('filter') as HTMLTextAreaElement
    input.setCustomValidity(`This is not JSON: ${(error as Error).message}`)
    input.reportValidity()
    return undefined
  }
}

interface ChoicesProps {
  readonly legend: string
  readonly name: string
  readonly values: readonly string[]
  readonly chosen: readonly string[]
}

function Choices({ legend, name, values, chosen }: ChoicesProps): ReactNode {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div className="row">
        {values.map((each) => (
          <label key={each} className="check">
            <input type="checkbox" name={name} value={each} defaultChecked={chosen.includes(each)} /> {each}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
