'use strict';

// Loaded before any TypeScript. If Node is too old or packages are missing, this script prints instructions in place of a
// syntax or import error. It must therefore run on old versions of Node.

var fs = require('fs');
var path = require('path');

/** Major version that Lambda also runs, and that `npm ci` installs. */
var NEEDED_NODE = 24;

var command = process.env.npm_config_ignore_scripts === 'true' ? 'npm ci --ignore-scripts=false' : 'npm ci';
var node = process.versions.node;
if (parseInt(node, 10) < NEEDED_NODE) {
  fail(
    'Node ' + NEEDED_NODE + ' or newer is required, but this is Node ' + node + ' (' + process.execPath + ')',
  );
}

var manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
var absent = Object.keys(Object.assign({}, manifest.dependencies, manifest.devDependencies)).filter(isAbsent);
if (absent.length > 0) fail('Packages are not installed (' + absent.slice(0, 3).join(', ') + ' …)');

// The cache of compiled code shortens the startup by a third. If it cannot be written, Node compiles the code each time.
require('module').enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'compiled'));

function isAbsent(name) {
  return !module.paths.some(function (folder) {
    return fs.existsSync(path.join(folder, name));
  });
}

function fail(reason) {
  console.error(reason + '. Run ' + command + ', and start again through npm.');
  process.exit(1);
}
