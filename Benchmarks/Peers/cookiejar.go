// The driver for Go's net/http/cookiejar with golang.org/x/net/publicsuffix; the conversation is that of
// Sources/DriverSupport/Driver.swift.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/publicsuffix"
)

// A line "URL TAB FIELD-VALUE", or a URL alone.
type line struct{ url, value string }

// What one repetition came to.
type repetition struct {
	Seconds    *float64       `json:"seconds,omitempty"`
	Operations int            `json:"operations"`
	Facts      map[string]int `json:"facts"`
}

// CPU seconds of the whole process, its garbage collector's threads included.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	sum := usage.Utime.Sec + usage.Stime.Sec
	return float64(sum) + float64(usage.Utime.Usec+usage.Stime.Usec)*1e-6
}

func peakKibibytes() int {
	status, _ := os.ReadFile("/proc/self/status")
	for _, text := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(text); len(fields) > 1 && fields[0] == "VmHWM:" {
			peak, _ := strconv.Atoi(fields[1])
			return peak
		}
	}
	return 0
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cookiejar:", err)
		os.Exit(1)
	}
}

func eachLine(path string, body func(line)) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(make([]byte, 1<<16), 1<<20)
	for scanner.Scan() {
		text, value, _ := strings.Cut(scanner.Text(), "\t")
		body(line{text, value})
	}
}

func allLines(path string) (all []line) {
	eachLine(path, func(l line) { all = append(all, l) })
	return
}

func emptyJar() *cookiejar.Jar {
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	check(err)
	return jar
}

// What an http.Client does with a response.
func parsed(value string) []*http.Cookie {
	response := http.Response{Header: http.Header{"Set-Cookie": {value}}}
	return response.Cookies()
}

func set(jar *cookiejar.Jar, l line) {
	address, err := url.Parse(l.url)
	check(err)
	if cookies := parsed(l.value); len(cookies) > 0 {
		jar.SetCookies(address, cookies)
	}
}

func header(jar *cookiejar.Jar, text string) string {
	address, err := url.Parse(text)
	check(err)
	var builder strings.Builder
	for _, cookie := range jar.Cookies(address) {
		if builder.Len() > 0 {
			builder.WriteString("; ")
		}
		builder.WriteString(cookie.Name + "=" + cookie.Value)
	}
	return builder.String()
}

// Measures body, which returns its number of operations and what else it counted. The garbage of what came before is
// collected first.
func timed(body func() (int, map[string]int)) repetition {
	runtime.GC()
	start := cpuSeconds()
	operations, facts := body()
	seconds := cpuSeconds() - start
	return repetition{&seconds, operations, facts}
}

func parseSubject(folder string) func() repetition {
	lines := allLines(folder + "/lines.tsv")
	return func() repetition {
		return timed(func() (int, map[string]int) {
			cookies, octets := 0, 0
			for _, l := range lines {
				for _, cookie := range parsed(l.value) {
					cookies++
					octets += len(cookie.Name) + len(cookie.Value)
				}
			}
			return len(lines), map[string]int{"cookies": cookies, "octets": octets}
		})
	}
}

func storeSubject(jarPath string) func() repetition {
	lines := allLines(jarPath)
	return func() repetition {
		jar := emptyJar()
		return timed(func() (int, map[string]int) {
			for _, l := range lines {
				set(jar, l)
			}
			return len(lines), map[string]int{}
		})
	}
}

func headerSubject(jar *cookiejar.Jar, urls []line) func() repetition {
	return func() repetition {
		return timed(func() (int, map[string]int) {
			hits, octets := 0, 0
			for _, l := range urls {
				if text := header(jar, l.url); text != "" {
					hits++
					octets += len(text)
				}
			}
			return len(urls), map[string]int{"hits": hits, "octets": octets}
		})
	}
}

func memorySubject(jarPath string) func() repetition {
	return func() repetition {
		base, jar := peakKibibytes(), emptyJar()
		eachLine(jarPath, func(l line) { set(jar, l) })
		facts := map[string]int{"peakKibibytes": peakKibibytes(), "baseKibibytes": base}
		runtime.KeepAlive(jar)
		return repetition{nil, 1, facts}
	}
}

func answer(value any) {
	check(json.NewEncoder(os.Stdout).Encode(value))
}

func writeHeaders(jar *cookiejar.Jar, urls []line, path string) {
	file, err := os.Create(path)
	check(err)
	writer := bufio.NewWriter(file)
	for _, l := range urls {
		fmt.Fprintln(writer, header(jar, l.url))
	}
	check(writer.Flush())
	check(file.Close())
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: cookiejar SUBJECT FOLDER JAR-SIZE")
		os.Exit(1)
	}
	folder, size := os.Args[2], os.Args[3]
	jarPath := folder + "/jar-" + size + ".tsv"
	greeting := map[string]string{"peer": "Go", "version": runtime.Version()}
	var run func() repetition
	var jar *cookiejar.Jar
	var urls []line
	switch os.Args[1] {
	case "parse":
		run = parseSubject(folder)
	case "store":
		run = storeSubject(jarPath)
	case "header":
		jar = emptyJar()
		eachLine(jarPath, func(l line) { set(jar, l) })
		urls = allLines(folder + "/urls-" + size + ".txt")
		run = headerSubject(jar, urls)
	case "memory":
		run = memorySubject(jarPath)
	default:
		greeting["skipped"] = "has nothing to measure there"
	}
	answer(greeting)
	if run == nil {
		return
	}
	for scanner := bufio.NewScanner(os.Stdin); scanner.Scan(); {
		if command, path, _ := strings.Cut(scanner.Text(), " "); command == "headers" {
			writeHeaders(jar, urls, path)
			answer(map[string]int{"headers": len(urls)})
		} else {
			answer(run())
		}
	}
}
