// Gets events from the Runtime API and calls the function. Replaces AWS's runtime interface client, which must be
// compiled.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html

// A named import of node:http would also load Node's fetch client, which would slow down init.
const { Agent, request } = process.getBuiltinModule('node:http');
const { AWS_LAMBDA_RUNTIME_API, LAMBDA_TASK_ROOT, _HANDLER = '' } = process.env;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** @returns {Promise<{ headers: import('node:http').IncomingHttpHeaders, body: string }>} */
function call(method, path, value) {
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: { 'Content-Type': 'application/json' } };
    const url = `http://${AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/${path}`;
    request(url, options, async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      resolve({ headers: response.headers, body });
    })
      .on('error', reject)
      .end(value === undefined ? undefined : JSON.stringify(value));
  });
}

// If the function throws an error, this process exits, and the benchmark reports what the process wrote to stderr.
const [module, name] = _HANDLER.split('.');
const { [name]: handler } = await import(`${LAMBDA_TASK_ROOT}/${module}.mjs`);

for (;;) {
  const { headers, body } = await call('GET', 'invocation/next');
  const id = headers['lambda-runtime-aws-request-id'];
  const context = {
    awsRequestId: id,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    getRemainingTimeInMillis: () => Number(headers['lambda-runtime-deadline-ms']) - Date.now(),
  };
  await call('POST', `invocation/${id}/response`, await handler(JSON.parse(body), context));
}
