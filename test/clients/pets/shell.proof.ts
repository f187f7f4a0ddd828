import { describe, expect, test } from '@jest/globals';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { generateApiKey } from '../../../shared/api-key-format.ts';
import { type Behavior, clientProxies, inOrder } from '../../support/client-proxy.ts';
import { startLocalService } from '../../support/local-service.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { done, type Outcome, outcomeOf } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { clients, describeFor, unpack } from './example-clients.ts';

// These tests cover what only the shell client has: shells, programs that it calls, files and signals. In most tests, a
// proxy sends the responses, so no service is needed.

const SHELLS = [
  ['sh'],
  ['dash'],
  ['bash'],
  ['bash', '--posix'],
  ['busybox', 'ash'],
  ['ksh93'],
  ['mksh'],
  ['zsh'],
  ['zsh', '--emulate', 'sh'],
  ['yash'],
  ['posh'],
];
/** Programs that implement awk if they are called by this name. */
const AWKS = ['mawk', 'gawk', 'original-awk', 'busybox'];
const PROGRAMS = ['awk', 'cat', 'curl', 'date', 'echo', 'ln', 'od', 'printf', 'rm', 'sleep', 'tr'];

const apiKey = generateApiKey('staging');
const parent = temporaryFolder();
const headers = { 'x-amzn-RequestId': 'a-1' };
const created: Behavior = { status: 201, headers, body: '{"id":1}' };
const page: Behavior = { status: 200, headers, body: '[{"id":1}]' };
const LIST = '. ./pets.sh; list_pets';
const CREATE = '. ./pets.sh; create_pet "$1"';

const startClientProxy = clientProxies();

/** Creates a folder with the client and an empty folder `tmp`, and starts a proxy that sends these responses. */
async function prepare(...responses: Behavior[]) {
  const proxy = await startClientProxy('');
  proxy.decide(inOrder(...responses, { status: 418, body: 'The test expects fewer requests.' }));
  const folder = unpack(parent);
  mkdirSync(join(folder, 'tmp'));
  writeFileSync(join(folder, 'pet.json'), '{"name":"Rex"}');
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: folder,
    TMPDIR: join(folder, 'tmp'),
    LANG: 'C.UTF-8',
    BASE_URL: proxy.baseUrl,
    API_KEY: apiKey,
  };

  function start([file = '', ...options]: string[], program: string, parameters: string[]) {
    writeFileSync(join(folder, 'program.sh'), program);
    return [file, [...options, 'program.sh', ...parameters], { cwd: folder, env: environment }] as const;
  }
  function run(shell: string[], program: string, ...parameters: string[]): Promise<Outcome> {
    return outcomeOf(promisify(execFile)(...start(shell, program, parameters)));
  }
  /** Returns the values of a header in all requests. */
  const sent = (header: string) => proxy.requests.map((request) => request.headers[header]);
  return { proxy, folder, environment, start, run, sent };
}

/** Returns `describe`, or `describe.skip` if the program is not installed. */
function describeIfInstalled(program: string): typeof describe.skip {
  return pathOf(program) === '' ? describe.skip : describe;
}

/** Returns the path of a program, or an empty text if it is not installed. */
function pathOf(program: string): string {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).stdout.trim();
}

/** Creates a folder that is the first in which the shell looks for programs. */
function addProgramFolder({
  folder,
  environment,
}: {
  folder: string;
  environment: NodeJS.ProcessEnv;
}): string {
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  environment['PATH'] = `${programs}:${environment['PATH']}`;
  return programs;
}

describeFor(clients.find(({ name }) => name === 'Shell')!)('the shell client (needs curl)', () => {
  for (const shell of SHELLS) describeIfInstalled(shell[0]!)(`in ${shell.join(' ')}`, () => testShell(shell));

  for (const awk of AWKS) {
    describeIfInstalled(awk)(`with ${awk} as awk`, () => {
      test.concurrent('reads pages, retries and finds errors', async () => {
        const prepared = await prepare(
          { status: 503, headers: { 'Retry-After': 'Sun, 06 Nov 1994 08:49:37 GMT' } },
          { status: 503, headers: { 'Retry-After': '007' } },
          {
            status: 200,
            headers: { Link: ['<x>; rel="prev"', '<./y/%2e./z?b>; title=", <a>"; REL=Next'] },
            body: '[{"name":"😀 \\u00e9 €","id":-1.5e+3},\n[], {}]',
          },
          { status: 200, headers, body: Buffer.from('["é"]', 'latin1') },
        );
        symlinkSync(pathOf(awk), join(addProgramFolder(prepared), 'awk'));
        const { code, stdout, stderr } = await prepared.run(['sh'], LIST);
        expect({ code, stdout }).toEqual({
          code: 22,
          stdout: '[{"name":"😀 \\u00e9 €","id":-1.5e+3}, [], {}]\n',
        });
        expect(stderr).toMatch(/^200: The body is not a JSON array: \["."\] \(request a-1\)\n$/);
        const { requests } = prepared.proxy;
        expect(requests.map(({ target }) => target)).toEqual([
          ...Array(3).fill('/v1/pets?limit=100'),
          '/v1/z?b',
        ]);
        expect(requests[2]!.time - requests[1]!.time).toBeGreaterThan(6_950);
      });

      // An algorithm that is not linear would exceed the time limit of a test.
      test.concurrent('reads long text and white space', async () => {
        const body = `[${' '.repeat(300_000)}"${'日'.repeat(400_000)}"]`;
        const prepared = await prepare(
          { status: 503, headers: { 'Retry-After': `0${' '.repeat(90_000)}0` } },
          { status: 200, headers, body },
        );
        symlinkSync(pathOf(awk), join(addProgramFolder(prepared), 'awk'));
        expect(done(await prepared.run(['sh'], `${LIST} >page`))).toBe('');
        expect(readFileSync(join(prepared.folder, 'page'), 'utf8') === `${body}\n`).toBe(true);
      });
    });
  }

  testPrograms();
  testKeyFiles();

  test.concurrent('distinguishes the head of a response from interim responses, the body and trailers', async () => {
    const { environment, run } = await prepare();
    const [ok, list, next] = ['HTTP/1.1 200 OK\r\n', 'Content-Length: 2\r\n\r\n[]', '>; rel=next\r\n'];
    const forged = 'HTTP/1.1 200 OK\r\nx-amzn-requestid: forged\r\nLink: </v1/forged>; rel=next\r\n\r\n[]';
    const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
    const responses = [
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </v1/hint${next}\r\n${ok}Link: <?2${next}${list}`,
      `${ok}Link: <?3>;\r\n \ttitle=a;\n\trel=next\r\n${list}`,
      'HTTP/1.1 201 Created\r\nx-amzn-RequestId: a', // The client retries, because the head is cut.
      `${ok}Link: <?4${next}${list}`,
      `${chunked}2\r\n[]\r\n0\r\nLink: <?5${next}\r\n`,
      `${chunked}2\r\n{}\r\n1\r\n]\r\n0\r\nLink: <?5${next}\r\n`,
      `${ok}Content-Length: ${forged.length}\r\n\r\n${forged}`,
    ];
    const urls: unknown[] = [];
    const server = createServer(({ url, socket }) => {
      urls.push(url);
      socket.end(responses.shift() ?? '');
    });
    const { origin, close } = await listenOnLoopback(server);
    environment['BASE_URL'] = origin;
    const pages = await run(['sh'], LIST);
    const cut = await run(['sh'], LIST);
    const lie = await run(['sh'], LIST);
    await close();
    expect({ ...pages, stderr: '' }).toEqual({ code: 0, stdout: '[]\n[]\n[]\n[]\n', stderr: '' });
    const first = '/pets?limit=100';
    expect(urls).toEqual([first, '/pets?2', '/pets?3', '/pets?3', '/pets?4', first, first]);
    expect(cut).toEqual({
      code: 22,
      stdout: '',
      stderr: '200: The body is not a JSON array: {}] (request without id)\n',
    });
    expect(lie).toEqual({
      code: 22,
      stdout: '',
      stderr: `200: The body is not a JSON array: ${forged.replaceAll(/[\r\n]/g, ' ')} (request without id)\n`,
    });
  });

  describeIfInstalled('openssl')('through a tunnel', () => {
    test.concurrent('reads the response of the service, not of the proxy', async () => {
      const { folder, environment, run } = await prepare();
      const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
      const options = `-x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=pets.example -addext subjectAltName=DNS:pets.example`;
      await promisify(execFile)('openssl', [
        'req',
        ...options.split(' '),
        '-keyout',
        key,
        '-out',
        certificate,
      ]);
      const service = createSecureServer(
        { key: readFileSync(key), cert: readFileSync(certificate) },
        (_, response) => response.writeHead(200, headers).end('{}'),
      );
      const proxy = createServer().on('connect', (_, socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-amzn-RequestId: proxy\r\n\r\n');
        service.emit('connection', socket);
      });
      const { origin, close } = await listenOnLoopback(proxy);
      Object.assign(environment, {
        BASE_URL: 'https://pets.example/v1',
        https_proxy: origin,
        CURL_CA_BUNDLE: certificate,
      });
      const outcome = await run(['sh'], LIST);
      await close();
      expect(outcome.stderr).toBe('200: The body is not a JSON array: {} (request a-1)\n');
    });
  });

  test.concurrent('retries if the Retry-After headers have 240,000 characters', async () => {
    const { run } = await prepare(
      { status: 503, headers: { 'Retry-After': Array(4).fill('0'.repeat(60_000)) } },
      page,
    );
    expect(await run(['sh'], LIST)).toEqual({ code: 0, stdout: '[{"id":1}]\n', stderr: '' });
  });

  test.concurrent('replaces the API key in messages', async () => {
    const echoed = `{"message":"No ${apiKey}${apiKey}."}`;
    const { proxy, run } = await prepare(
      { status: 400, headers: { 'x-amzn-RequestId': apiKey }, body: echoed },
      { status: 200, headers: { Link: `<http://other.example/${apiKey}>; rel=next` }, body: '[]' },
      { status: 400, headers, body: `${'x'.repeat(980)}${apiKey}${'y'.repeat(20_000)}` },
    );
    const outcomes = [];
    for (let count = 0; count < 3; count++) outcomes.push((await run(['sh'], LIST)).stderr);
    const next = 'http://other.example/<API key>';
    expect(outcomes).toEqual([
      '400: {"message":"No <API key><API key>."} (request <API key>)\n',
      `The next page, ${next}, is not below ${proxy.baseUrl}, so it must not get the API key.\n`,
      expect.stringMatching(/^400: x{980}<API key>y* … y* \(request a-1\)\n$/),
    ]);
  });

  test.concurrent('prints no control characters in messages', async () => {
    const body = 'a\u001b[31m\r\nb\u0000\u007f\u009b';
    const { proxy, run } = await prepare({ status: 400, headers, body }, page);
    expect((await run(['sh'], LIST)).stderr).toBe('400: a [31m  b    (request a-1)\n');
    proxy.decide(inOrder({ status: 200, headers: { Link: '<http://\u009b31m>; rel=next' }, body: '[]' }));
    const { stderr } = await run(['sh'], LIST);
    expect(stderr).toMatch(/^The next page, http.*\n$/);
    // eslint-disable-next-line no-control-regex -- control characters are what this test is about
    expect(stderr.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  test.concurrent('sends other requests as docs/clients/pets.md describes', async () => {
    const service = await startLocalService();
    const { environment, run } = await prepare();
    Object.assign(environment, { BASE_URL: service.baseUrl, API_KEY: service.apiKey });
    const body = '{"name":"Rex","categoryId":9223372036854775807}';
    const { id }: { id: number } = await service.call('/pets', { method: 'POST', body });
    const outcome = await run(['sh'], '. ./try-other.sh', `${id}`);
    await service.stop();
    expect(done(outcome)).toBe(`{"id":${id},"name":"Rex","categoryId":9223372036854775807}\n`);
  });
});

function testShell(shell: string[]): void {
  test.concurrent('prints and sends data unchanged', async () => {
    const text = String.raw`\n \\ \t \u0041 %s %d $HOME ` + '`id` "\'é €😀 -n ';
    const name = JSON.stringify(text + 'x'.repeat(200_000)).replace('A', '\\u0041');
    const body = `{"name":${name}}`;
    const { proxy, folder, run } = await prepare(
      { status: 200, headers, body: `[${body}]` },
      { status: 201, headers, body },
    );
    const file = `-pet "1"' $x %s é\\.json`;
    writeFileSync(join(folder, file), body);
    const outcome = await run(
      shell,
      '. ./pets.sh; list_pets "$2"; create_pet "$1"',
      file,
      'status=a%20b&x=%5C',
    );
    expect(done(outcome)).toBe(`[${body}]\n${body}\n`);
    const [list, create] = proxy.requests;
    expect(list!.target).toBe('/v1/pets?limit=100&status=a%20b&x=%5C');
    expect(create!.body).toBe(body);
    expect(create!.headers).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': readFileSync(join(folder, `${file}.key`), 'utf8').trim(),
    });
  });

  test.concurrent('works with the options and names of a script', async () => {
    const { proxy, run } = await prepare(page, created, { status: 400, headers, body: 'x' }, page);
    const program = `
      set -eufC
      IFS=0123456789abcdefghijklmnopqrstuvwxyz./:
      base_url=x page=x code=x body=x api_key=x attempt=9 end=0
      curl() { exit 9; }
      . ./pets.sh
      if pages=$(list_pets); then printf '%s\\n' "$pages"; fi
      create_pet "$1"
      ! list_pets || exit 8
      list_pets >page
      case $- in *e*) cat page ;; esac
      printf '%s\\n' "$base_url$page$code$body$api_key$attempt$end"`;
    const outcome = await run(shell, program, 'pet.json');
    expect(outcome).toEqual({
      code: 0,
      stdout: '[{"id":1}]\n{"id":1}\n[{"id":1}]\nxxxxx90\n',
      stderr: '400: x (request a-1)\n',
    });
    expect(proxy.requests).toHaveLength(4);
  });

  test.concurrent('works with the functions and aliases of a script', async () => {
    const { proxy, folder, run } = await prepare(
      { status: 503, headers: { 'Retry-After': '0' } },
      page,
      created,
    );
    const names =
      'fail trim send request header next_page retry_delay absolute_url check_settings parse_response ' +
      'is_visible_ascii store_new_key awk cat curl date ln od rm sleep tr';
    writeFileSync(
      join(folder, 'definitions.sh'),
      names
        .split(' ')
        .map((name) => `${name}() { printf '%s ' ${name} "$@"; return 1; }\n`)
        .join(''),
    );
    // posh has no aliases, so errors of `alias` and `unalias` are ignored.
    const program = `
      alias cat='cat -n' tr='tr -d a' 2>/dev/null
      . ./pets.sh
      unalias cat tr 2>/dev/null
      . ./definitions.sh
      list_pets
      create_pet "$1"
      API_KEY=
      list_pets`;
    expect(await run(shell, program, 'pet.json')).toEqual({
      code: 1,
      stdout: '[{"id":1}]\n{"id":1}\n',
      stderr: 'The API key must consist of visible ASCII characters, without " and \\.\n',
    });
    expect(proxy.requests).toHaveLength(3);
  });

  (existsSync('/dev/full') ? test.concurrent : test.skip)(
    'fails if the disk of its output is full',
    async () => {
      const next: Behavior = { status: 200, headers: { Link: '<?2>; rel=next' }, body: '[]' };
      const { proxy, run } = await prepare(next, next);
      expect((await run(shell, `${LIST} >/dev/full`)).code).toBe(1);
      expect(proxy.requests).toHaveLength(1);
    },
  );

  test.concurrent('fails if nobody reads its output', async () => {
    const next: Behavior = { status: 200, headers: { Link: '<?2>; rel=next' }, body: '[]' };
    const { proxy, folder, run } = await prepare();
    proxy.decide(async () => {
      while (!existsSync(join(folder, 'closed'))) await setTimeout(10);
      return next;
    });
    const { stderr } = await run(shell, `{ ${LIST}; echo "exit code: $?" >&2; } | (exec <&-; >closed)`);
    expect(stderr).toMatch(/^exit code: 1$/m);
    expect(proxy.requests).toHaveLength(1);
  });

  test.concurrent('fails with the exit code of the error', async () => {
    const { run } = await prepare({ status: 404, headers, body: 'x' }, { status: 404, headers, body: 'x' });
    const program =
      '. ./pets.sh; list_pets; echo $?; list_pets "a b"; echo $?; set -e; list_pets; echo unreachable';
    const { code, stdout, stderr } = await run(shell, program);
    expect({ code, stdout }).toEqual({ code: 22, stdout: '22\n1\n' });
    expect(stderr).toMatch(/^404: x .*\nThe query must be percent-encoded: .*\n404: x .*\n$/);
  });

  test.concurrent('hides the API key from arguments, environments, traces and files', async () => {
    const prepared = await prepare({ status: 503, headers: { 'Retry-After': '0' } }, page, created);
    const { proxy, folder, environment, run, sent } = prepared;
    const record = join(folder, 'record');
    const programs = addProgramFolder(prepared);
    for (const program of PROGRAMS) {
      // `env` prints the environment of the program, which replaces the recording shell.
      const recording = `{ '${pathOf('env')}'; '${pathOf('env')}' printf '${program} %s\\n' "$@"; } >>'${record}'`;
      const code = `#!/bin/sh\nPATH='${process.env['PATH']}'\n${recording}\nexec ${program} "$@"\n`;
      writeFileSync(join(programs, program), code, { mode: 0o755 });
    }
    delete environment['API_KEY'];
    writeFileSync(join(folder, 'key.txt'), `${apiKey}\r\n`);
    const program = `export api_key=x trimmed=x
      IFS= read -r API_KEY <key.txt; set -ax; . ./pets.sh; list_pets; create_pet "$1"`;
    const { code, stdout, stderr } = await run(shell, program, 'pet.json');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '[{"id":1}]\n{"id":1}\n' });
    expect(sent('authorization')).toEqual(Array(3).fill(`Bearer ${apiKey}`));
    const secret = apiKey.slice(-36);
    expect(stderr).toContain('list_pets');
    expect(stderr).not.toContain(secret);
    const recorded = readFileSync(record, 'utf8');
    expect(recorded).toContain(`${proxy.baseUrl}/pets`);
    expect(recorded).not.toContain(secret);
    expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
  });

  test.concurrent.each([`a"b`, 'a\\b', 'a b', 'a\u00e9b', 'a\u0001b', 'a\nb', ''])(
    'rejects the API key %j without printing it',
    async (key) => {
      const { proxy, environment, run } = await prepare();
      environment['API_KEY'] = key && `${apiKey}${key}`;
      const { code, stdout, stderr } = await run(shell, `set -x; ${CREATE}`, 'pet.json');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^The API key must .*$/m);
      expect(stderr).not.toContain(apiKey);
      expect(proxy.requests).toEqual([]);
    },
  );

  test.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
    'ends after %s and leaves no temporary files',
    async (signal) => {
      const { proxy, folder, start } = await prepare('hang');
      const [file, parameters, options] = start(shell, `${CREATE}; echo unreachable`, ['pet.json']);
      const before = readdirSync(folder);
      const running = spawn(file, parameters, {
        ...options,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [running.stdout, running.stderr])
        stream.on('data', (data: Buffer) => (output += data.toString()));
      proxy.decide(() => {
        process.kill(-running.pid!, signal); // A terminal sends SIGINT to all processes of the group.
        return 'hang';
      });
      const [code, endedBy] = (await once(running, 'close')) as [number | null, NodeJS.Signals | null];
      expect(endedBy ?? code).toEqual(endedBy ? signal : { SIGINT: 130, SIGTERM: 143 }[signal]);
      expect(output).not.toContain('unreachable');
      expect(output).not.toContain(apiKey);
      expect(readdirSync(folder)).toEqual([...before, 'pet.json.key'].toSorted());
      expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
    },
  );

  test.concurrent('uses one idempotency key per file, also in parallel', async () => {
    const { folder, run, sent } = await prepare(...Array.from({ length: 8 }, () => created));
    writeFileSync(join(folder, 'other.json'), '{"name":"Rex"}');
    const program = `. ./pets.sh
      for number in 1 2 3 4 5 6; do create_pet "$1" & done
      wait
      create_pet "$1"
      create_pet other.json`;
    expect(done(await run(shell, program, 'pet.json'))).toBe('{"id":1}\n'.repeat(8));
    const [first, ...others] = sent('idempotency-key');
    expect(first).toMatch(/^[\da-f]{32}$/);
    expect(others.slice(0, -1)).toEqual(Array(6).fill(first));
    expect(others.at(-1)).toMatch(/^[\da-f]{32}$/);
    expect(others.at(-1)).not.toBe(first);
    expect(readdirSync(folder).filter((name) => name.includes('.key'))).toEqual([
      'other.json.key',
      'pet.json.key',
    ]);
  });

  test.concurrent('sends nothing if the disk is full', async () => {
    const { proxy, folder, run, sent } = await prepare(created);
    const limited = ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', ...shell]; // posh has no ulimit
    const full = await run(limited, CREATE, 'pet.json');
    expect({ ...full, stderr: '' }).toEqual({ code: expect.any(Number), stdout: '', stderr: '' });
    expect(full.code).not.toBe(0);
    expect(proxy.requests).toEqual([]);
    // The full disk has not left an empty key file, which would block all later attempts.
    expect(readdirSync(folder)).not.toContain('pet.json.key');
    expect(done(await run(shell, CREATE, 'pet.json'))).toBe('{"id":1}\n');
    expect(sent('idempotency-key')).toEqual([expect.stringMatching(/^[\da-f]{32}$/)]);
  });
}

function testPrograms(): void {
  test.concurrent('waits with a sleep that accepts only integers', async () => {
    const prepared = await prepare({ status: 503 }, page);
    const sleep = '#!/bin/sh\ncase $1 in *[!0-9]*) echo invalid >&2; exit 1 ;; esac\n';
    writeFileSync(join(addProgramFolder(prepared), 'sleep'), sleep, { mode: 0o755 });
    expect(await prepared.run(['sh'], LIST)).toEqual({ code: 0, stdout: '[{"id":1}]\n', stderr: '' });
  });

  test.concurrent.each([
    'fail',
    'fail-with-body',
    'include',
    'verbose',
    'head',
    'location',
    'insecure\nproxy = "http://127.0.0.1:1"',
    'output = "stolen"',
    'dump-header = "stolen"',
    'header = "X-Stolen: 1"',
    'data = "stolen"',
    'request = "DELETE"',
    'user-agent = "stolen"',
    'user = "stolen:stolen"',
    'write-out = "stolen"',
    'max-time = 0.001',
    'retry = 9',
    'url = "http://127.0.0.1:1/stolen"',
    'unknown-option',
  ])('ignores the setting %j in .curlrc', async (setting) => {
    const { proxy, folder, environment, run } = await prepare(
      { status: 302, headers: { ...headers, Location: '/stolen' }, body: 'x' },
      page,
      created,
    );
    environment['CURL_HOME'] = environment['XDG_CONFIG_HOME'] = folder;
    writeFileSync(join(folder, '.curlrc'), `${setting}\n`);
    writeFileSync(join(folder, 'curlrc'), `${setting}\n`);
    const outcome = await run(['sh'], '. ./pets.sh; list_pets; list_pets; create_pet "$1"', 'pet.json');
    expect(outcome).toEqual({
      code: 0,
      stdout: '[{"id":1}]\n{"id":1}\n',
      stderr: '302: x (request a-1)\n',
    });
    expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      'GET /v1/pets?limit=100',
      'GET /v1/pets?limit=100',
      'POST /v1/pets',
    ]);
    expect(JSON.stringify(proxy.requests)).not.toContain('stolen');
    expect(readdirSync(folder)).not.toContain('stolen');
  });

  test.concurrent.each([2, 3, 26, 27, 126, 127])(
    'does not retry after the exit code %d of curl',
    async (exitCode) => {
      const prepared = await prepare();
      const curl = `#!/bin/sh\necho called >>calls\nexit ${exitCode}\n`;
      writeFileSync(join(addProgramFolder(prepared), 'curl'), curl, { mode: 0o755 });
      expect(await prepared.run(['sh'], LIST)).toEqual({
        code: 1,
        stdout: '',
        stderr: `There was no complete response (attempts: 1, exit code of curl: ${exitCode}).\n`,
      });
      expect(readFileSync(join(prepared.folder, 'calls'), 'utf8')).toBe('called\n');
    },
  );
}

function testKeyFiles(): void {
  test.concurrent('stores no idempotency key if od fails', async () => {
    const prepared = await prepare(created);
    const { proxy, folder, environment, run } = prepared;
    const { PATH } = environment;
    const programs = addProgramFolder(prepared);
    writeFileSync(join(programs, 'od'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(await run(['sh'], CREATE, 'pet.json')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Nothing was sent, because the idempotency key cannot be stored in pet.json.key.\n',
    });
    expect(proxy.requests).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.includes('.key'))).toEqual([]);
    Object.assign(environment, { PATH });
    expect(done(await run(['sh'], CREATE, 'pet.json'))).toBe('{"id":1}\n');
  });

  const unusable: [title: string, spoil: (folder: string) => void][] = [
    ['is empty', (folder) => writeFileSync(join(folder, 'pet.json.key'), '')],
    ['contains only white space', (folder) => writeFileSync(join(folder, 'pet.json.key'), ' \n')],
    ['contains two lines', (folder) => writeFileSync(join(folder, 'pet.json.key'), 'a\nX-Header: b\n')],
    ['contains a control character', (folder) => writeFileSync(join(folder, 'pet.json.key'), 'a\u0007')],
    ['is a folder', (folder) => mkdirSync(join(folder, 'pet.json.key'))],
    ['is a link to nothing', (folder) => symlinkSync('nothing', join(folder, 'pet.json.key'))],
  ];
  test.concurrent.each(unusable)('sends nothing if the key file %s', async (title, spoil) => {
    const { proxy, folder, run } = await prepare();
    spoil(folder);
    const reason = title.includes('link')
      ? 'the idempotency key cannot be stored in pet.json.key'
      : 'pet.json.key contains no valid idempotency key';
    expect(await run(['sh'], CREATE, 'pet.json')).toEqual({
      code: 1,
      stdout: '',
      stderr: `Nothing was sent, because ${reason}.\n`,
    });
    expect(proxy.requests).toEqual([]);
  });

  // Tests can run as root, who can write to a read-only folder. This test uses /proc, where not even root can create
  // files.
  (existsSync('/proc/version') ? test.concurrent : test.skip)(
    'sends nothing from a read-only folder',
    async () => {
      const { proxy, run } = await prepare();
      expect(await run(['sh'], CREATE, '/proc/version')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'Nothing was sent, because the idempotency key cannot be stored in /proc/version.key.\n',
      });
      expect(proxy.requests).toEqual([]);
    },
  );

  test.concurrent.each(['missing.json', 'tmp', ''])('sends nothing if %j is not a file', async (file) => {
    const { proxy, folder, run } = await prepare();
    expect(await run(['sh'], CREATE, file)).toEqual({
      code: 1,
      stdout: '',
      stderr: `create_pet needs a file that it can read: ${file}\n`,
    });
    expect(proxy.requests).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.includes('.key'))).toEqual([]);
  });
}
