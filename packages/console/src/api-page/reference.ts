/** Shows an OpenAPI document with Swagger UI, and sends the requests that people try. */
import SwaggerUI, { type RequestMap, type SentRequest } from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { completeDocument } from './complete-document.ts'
import { codeOfOperations } from './request-code.ts'
import { curlSnippet, pythonSnippet, type SnippetRequest, typeScriptSnippet } from './snippets.ts'
import type { VersionedInterface } from './versioned-interface.ts'

/** Shows a document in an element. `credential` returns the caller's key. */
export function showReference(
  domNode: HTMLElement,
  document: object,
  { base, name }: VersionedInterface,
  credential: () => Promise<string | undefined>,
): void {
  const snippet = (write: (request: SnippetRequest) => string) => (request: RequestMap) =>
    write(snippetRequest(name({ url: request.get('url'), headers: headersOf(request) }), request))
  SwaggerUI({
    // Behind a proxy the server does not know the prefix of its addresses; the page does.
    spec: { ...completeDocument(document), servers: [{ url: base }] },
    domNode,
    deepLinking: true,
    // All addresses of a large interface at once would take seconds.
    docExpansion: tagCount(document) > mostExpanded ? 'none' : 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    // The code shows the request without the key.
    showMutatedRequest: false,
    requestInterceptor: async (request: SentRequest) => {
      if (!request.url.startsWith(`${base}/`)) throw new Error('This page sends requests to its own server only.')
      const named = name(request)
      return Object.assign(request, named, {
        headers: { ...named.headers, Authorization: `Bearer ${await credential()}` },
      })
    },
    requestSnippetsEnabled: true,
    requestSnippets: {
      generators: {
        curl: { title: 'curl', syntax: 'bash' },
        typescript: { title: 'TypeScript', syntax: 'javascript' },
        python: { title: 'Python', syntax: 'plaintext' },
      },
      languages: ['curl', 'typescript', 'python'],
      defaultExpanded: true,
    },
    plugins: [
      {
        fn: {
          requestSnippetGenerator_curl: snippet(curlSnippet),
          requestSnippetGenerator_typescript: snippet(typeScriptSnippet),
          requestSnippetGenerator_python: snippet(pythonSnippet),
        },
        wrapComponents: {
          ...codeOfOperations(base),
          // The page itself asks for the key, and the only server is its own.
          ...Object.fromEntries(
            ['authorizeBtn', 'authorizeOperationBtn', 'ServersContainer'].map((name) => [name, () => () => null]),
          ),
        },
      },
    ],
  })
}

const mostExpanded = 20

function tagCount(document: object): number {
  return 'tags' in document && Array.isArray(document.tags) ? document.tags.length : 0
}

function headersOf(request: RequestMap): Record<string, string> {
  return Object.fromEntries(request.get('headers')?.entries() ?? [])
}

function snippetRequest({ url, headers }: SentRequest, request: RequestMap): SnippetRequest {
  const body = request.get('body')
  return {
    method: request.get('method').toUpperCase(),
    url,
    // The default says nothing.
    headers: Object.entries(headers).filter(([name, value]) => name !== 'accept' || value !== '*/*'),
    body: body === undefined || body === null || body === '' ? undefined : textOf(body),
  }
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
