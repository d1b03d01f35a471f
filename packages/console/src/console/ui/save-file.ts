/** Gives a file to the reader. */

/** Saves what is in memory as a file. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // Browsers read the address after the click; none says when it has done so.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** A file that is written while its content arrives. */
export interface FileSink {
  write(part: Uint8Array<ArrayBuffer>): void | Promise<void>
  close(): void | Promise<void>
  /** Throws the file away. */
  abort(): void | Promise<void>
}

/** Part of the File System API that not every browser has. */
interface PickerWindow {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<{ createWritable(): Promise<FileSink> }>
}

/** The most bytes that are collected in memory where the browser cannot write a file while it arrives. */
const mostInMemory = 200_000_000
/** Up to this size nobody is asked where to save a file. */
const small = 16_000_000

/** Whether a file of this size can be saved. */
export function canSave(bytes: number): boolean {
  return bytes <= mostInMemory || 'showSaveFilePicker' in window
}

/** Whether a file of this size is saved without a question. */
export function isSmall(bytes: number): boolean {
  return bytes <= small
}

/** @throws DOMException AbortError if the reader chooses no file */
export async function openFile(name: string, bytes: number): Promise<FileSink> {
  const { showSaveFilePicker } = window as PickerWindow
  if (showSaveFilePicker !== undefined && !isSmall(bytes)) {
    return (await showSaveFilePicker.call(window, { suggestedName: name })).createWritable()
  }
  const parts: Uint8Array<ArrayBuffer>[] = []
  return {
    write: (part) => void parts.push(part),
    close: () => saveFile(new Blob(parts), name),
    abort: () => {},
  }
}

export function sizeOf(bytes: number): string {
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, 'kilobyte'] : [bytes / 1e6, 'megabyte']
  return value.toLocaleString(undefined, { style: 'unit', unit, maximumFractionDigits: 1 })
}
