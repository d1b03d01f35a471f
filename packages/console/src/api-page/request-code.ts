/**
 * Shows the code of the request that an operation would send, as soon as the operation is open, with what is typed in.
 * Swagger UI itself shows code for requests that were sent.
 */
import type {
  Component,
  OperationProps,
  PluginSystem,
  RequestMap,
  SnippetsProps,
} from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/**
 * The parts of Swagger UI that this page replaces, by the names that Swagger UI gives them.
 *
 * @param base the beginning of all addresses
 */
export function codeOfOperations(base: string) {
  return {
    responses:
      (Responses: Component<OperationProps>, { React }: PluginSystem): Component<OperationProps> =>
      (props) => {
        const request = typedRequest(base, props)
        return React.createElement(
          React.Fragment,
          null,
          request && React.createElement(props.getComponent('RequestSnippets', true), { request, isTyped: true }),
          React.createElement(Responses, props),
        )
      },
    // What was sent is what is typed: its code is not shown a second time.
    RequestSnippets:
      (Snippets: Component<SnippetsProps>, { React }: PluginSystem): Component<SnippetsProps> =>
      (props) =>
        props.isTyped === true
          ? React.createElement('div', { className: 'request-code' }, React.createElement(Snippets, props))
          : null,
  }
}

/** The request as it would be sent now; `undefined`: it cannot be made of what is typed. */
function typedRequest(base: string, props: OperationProps): RequestMap | undefined {
  const { path, method, specSelectors, oas3Selectors, fn, Im } = props
  const operation = specSelectors.specResolvedSubtree(['paths', path, method])?.toJS()
  if (operation === undefined) return undefined
  const parameters = specSelectors.parameterValues([path, method]).toJS()
  for (const { in: place, name, required } of operation.parameters ?? []) {
    const value = parameters[`${place}.${name}`]
    if (required === true && (value === undefined || value === '')) {
      parameters[`${place}.${name}`] = name.toUpperCase()
    }
  }
  try {
    const request = fn.buildRequest({
      // The whole document would be converted with each letter that is typed.
      spec: { openapi: '3.1.0', servers: [{ url: base }], paths: { [path]: { [method]: operation } } },
      operationId: operation.operationId,
      parameters,
      requestBody: oas3Selectors.requestBodyValue(path, method),
      requestContentType: oas3Selectors.requestContentType(path, method),
      responseContentType: oas3Selectors.responseContentType(path, method) ?? '*/*',
    })
    return Im.fromJS(request)
  } catch {
    return undefined
  }
}
