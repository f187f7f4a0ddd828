'use strict';

// Node loads this script before any TypeScript. If packages are missing, the script prints how to install them. If Node
// is too old, it runs the command with the Node that `npm ci` installed, or prints which version to install. Without the
// script, Node would report an import or syntax error. The script must therefore run on old versions of Node.

var fs = require('fs');
var path = require('path');
var spawnSync = require('child_process').spawnSync;

var project = path.join(__dirname, '..');
var manifest = JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'));

// esbuild's program is in an optional package for each platform.
var missing = Object.keys(manifest.dependencies)
  .concat(Object.keys(manifest.devDependencies), '@esbuild/' + process.platform + '-' + process.arch)
  .filter(function (name) {
    return !fs.existsSync(path.join(project, 'node_modules', name));
  });
if (missing.length > 0) {
  var names = missing.slice(0, 3).join(', ') + (missing.length > 3 ? ', …' : '');
  // In a workspace, npm installs the packages in another folder, the one in this variable.
  var root = process.env.npm_config_local_prefix;
  if (!root || project.indexOf(root + path.sep) !== 0)
    fail('Packages are not installed (' + names + '). Run npm ci.');
  fail(
    'This project needs the packages in its own node_modules (' +
      names +
      '), but npm installs those of a workspace in ' +
      root +
      '. Remove the project from `workspaces` in ' +
      path.join(root, 'package.json') +
      ', and run npm ci.',
  );
}

/** Minimum major version of Node, the version that Lambda runs. */
var neededNode = parseInt(manifest.devDependencies['@types/node'], 10);
if (parseInt(process.versions.node, 10) < neededNode) runWithInstalledNode();

// The compile cache shortens the startup by a third. If the cache cannot be written, Node compiles the code each time.
require('module').enableCompileCache(path.join(project, 'node_modules', '.cache', 'compiled'));

// Operators edit infra/stages.ts. For a mistake such as a missing comma, Node would print a stack trace.
process.on('uncaughtExceptionMonitor', function (error) {
  var line = /infra[/\\]stages\.ts:(\d+)/.exec(error && error.stack);
  if (!line) return;
  console.error('infra/stages.ts, line ' + line[1] + ': ' + error.message + '.');
  process.exit(1);
});

/** Runs this command with the Node that `npm ci` installed, and exits with its exit code. */
function runWithInstalledNode() {
  var name = 'node-' + process.platform.replace('win32', 'win') + '-' + process.arch;
  var bin = path.join(project, 'node_modules', 'fallback-node', 'node_modules', name, 'bin');
  var file = path.join(bin, process.platform === 'win32' ? 'node.exe' : 'node');
  // Some platforms have no package, and the packages for Linux do not run on all of its distributions.
  var version = spawnSync(file, ['--version'], { encoding: 'utf8' });
  // A Node that is too old would start this script again and again.
  if (version.status !== 0 || parseInt(version.stdout.slice(1), 10) < neededNode)
    fail(
      'Node.js ' +
        neededNode +
        ' or newer is required, but this is ' +
        process.versions.node +
        ' (' +
        process.execPath +
        '), and npm has none that runs here. Install Node.js ' +
        neededNode +
        '.',
    );

  // The command can start other programs that need the same Node.
  process.env.PATH = bin + path.delimiter + process.env.PATH;
  // This process cannot pass signals on while it waits, so npm start watches the process that has started this one.
  process.env.LAUNCHER_PID = process.ppid;
  // On Ctrl-C, this process waits until the other process has stopped. The terminal sends the signal to both.
  process.on('SIGINT', function () {});
  var command = process.execArgv.concat(process.argv.slice(1));
  var ended = spawnSync(file, command, { stdio: 'inherit' });
  process.exit(ended.signal ? 1 : ended.status);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
