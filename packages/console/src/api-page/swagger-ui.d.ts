/** The parts of Swagger UI that the API page uses; the package brings no types. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** An immutable map, as the library passes requests to plugins. */
  export interface RequestMap {
    get(name: 'url' | 'method'): string
    get(name: 'body'): unknown
    get(name: 'headers'): { entries(): Iterable<[string, string]> } | undefined
  }
  /** A request that is about to be sent. */
  export interface SentRequest {
    url: string
    headers: Record<string, string>
  }
  /** A component of React, as plugins get and replace them. */
  export type Component<Props> = (props: Props) => unknown
  /** What Swagger UI gives to a function that replaces a component. */
  export interface PluginSystem {
    readonly React: {
      readonly Fragment: unknown
      createElement(type: unknown, props: object | null, ...children: unknown[]): unknown
    }
  }
  interface Operation {
    readonly operationId: string
    readonly parameters?: readonly { readonly in: string; readonly name: string; readonly required?: boolean }[]
  }
  /** What the components of an operation get. */
  export interface OperationProps {
    readonly path: string
    /** In lower case. */
    readonly method: string
    readonly specSelectors: {
      /** A part of the document without references; `undefined` until they are resolved. */
      specResolvedSubtree(path: readonly string[]): { toJS(): Operation } | undefined
      /** What is typed, by place and name: `query.limit`. */
      parameterValues(operation: readonly [path: string, method: string]): { toJS(): Record<string, unknown> }
    }
    readonly oas3Selectors: {
      requestBodyValue(path: string, method: string): unknown
      requestContentType(path: string, method: string): string | undefined
      responseContentType(path: string, method: string): string | null | undefined
    }
    readonly fn: {
      /** @throws Error if a required parameter is missing */
      buildRequest(options: object): object
    }
    readonly Im: { fromJS(value: object): RequestMap }
    getComponent(name: string, isConnected: boolean): unknown
  }
  export interface SnippetsProps {
    readonly request: RequestMap
    /** Whether the request is the one that is typed in. */
    readonly isTyped?: boolean
  }
  export default function SwaggerUI(options: {
    readonly spec: object
    readonly domNode: HTMLElement
    readonly requestInterceptor: (request: SentRequest) => Promise<SentRequest>
    readonly requestSnippets: {
      readonly generators: Readonly<Record<string, { readonly title: string; readonly syntax: string }>>
      readonly languages: readonly string[]
      readonly defaultExpanded: boolean
    }
    readonly plugins: readonly object[]
    readonly [option: string]: unknown
  }): unknown
}
