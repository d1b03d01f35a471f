/** The few elements that the pages share. With the package `react-admin`, Material UI has them all. */
import {
  type InputProps,
  type NotificationPayload,
  type RaRecord,
  useChoicesContext,
  useInput,
  useListContext,
  useNotificationContext,
  useTranslate,
} from 'ra-core'

/** What happened: changes, and what was refused. */
export function Messages() {
  const { notifications, resetNotifications } = useNotificationContext()
  const translate = useTranslate()
  return (
    <div aria-live="polite">
      {notifications.map(({ message, type, notificationOptions }: NotificationPayload) => (
        <p key={String(message)} role={type === 'error' ? 'alert' : 'status'}>
          {typeof message === 'string' ? translate(message, notificationOptions?.messageArgs) : message}
        </p>
      ))}
      {notifications.length > 0 && (
        <button type="button" onClick={resetNotifications}>
          Close
        </button>
      )}
    </div>
  )
}

interface TextProps extends InputProps {
  readonly label: string
  readonly kind?: 'text' | 'date' | 'number'
}

/** A field of a form, with what is wrong with it. */
export function Text({ label, kind = 'text', ...props }: TextProps) {
  // An empty input is no value, and a number is no text.
  const parse = (text: string) => (text === '' ? null : kind === 'number' ? Number(text) : text)
  const { field, fieldState } = useInput({ ...props, parse })
  return (
    <label>
      {label} <input type={kind} {...field} /> <Wrong message={fieldState.error?.message} />
    </label>
  )
}

/** A choice of a form, among records or constants. */
export function Choice({ label, ...props }: TextProps & { readonly choices?: RaRecord[] }) {
  const { allChoices = [], source } = useChoicesContext(props)
  const { field, fieldState } = useInput({ ...props, source, parse: (id: string) => (id === '' ? null : id) })
  return (
    <label>
      {label}{' '}
      <select {...field}>
        <option value="" />
        {allChoices.map((choice) => (
          <option key={choice.id} value={choice.id}>
            {choice.name}
          </option>
        ))}
      </select>{' '}
      <Wrong message={fieldState.error?.message} />
    </label>
  )
}

function Wrong({ message }: { readonly message: string | undefined }) {
  return message === undefined ? null : <span role="alert">{message.replace(/^@@react-admin@@"(.*)"$/, '$1')}</span>
}

/** The pages of a list, and how many records it has. */
export function Pages() {
  const { total, page, setPage, hasNextPage, hasPreviousPage } = useListContext()
  return (
    <p>
      <button type="button" disabled={!hasPreviousPage} onClick={() => setPage(page - 1)}>
        Previous
      </button>
      <button type="button" disabled={!hasNextPage} onClick={() => setPage(page + 1)}>
        Next
      </button>
      {total} records
    </p>
  )
}
