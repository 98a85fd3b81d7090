// A client of franz-go: connects as each argument says, asks for the description of the cluster, prints the outcome.
//
// An argument is the file of a JSON object: address, authority, and, if the client has them, certificate, key, group.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type arguments struct{ Address, Authority, Certificate, Key, Group string }

var groups = map[string]tls.CurveID{"X25519": tls.X25519, "P-256": tls.CurveP256}

const controllers = 2 // the endpoint type of DescribeCluster (KIP-919)

func main() {
	for _, file := range os.Args[1:] {
		if cluster, err := describe(file); err != nil {
			fmt.Printf("refused %q\n", err.Error())
		} else {
			fmt.Println("served", cluster)
		}
	}
}

func describe(file string) (string, error) {
	var given arguments
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &given)
	}
	if err != nil {
		return "", err
	}
	config, err := configuration(given)
	if err != nil {
		return "", err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(given.Address), kgo.DialTLSConfig(config), kgo.RequestRetries(0))
	if err != nil {
		return "", err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request := kmsg.NewPtrDescribeClusterRequest()
	request.EndpointType = controllers
	response, err := client.SeedBrokers()[0].Request(ctx, request)
	if err != nil {
		return "", err
	}
	return response.(*kmsg.DescribeClusterResponse).ClusterID, nil
}

func configuration(given arguments) (*tls.Config, error) {
	authority, err := os.ReadFile(given.Authority)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}
	config.RootCAs.AppendCertsFromPEM(authority)
	if given.Certificate != "" {
		own, err := tls.LoadX509KeyPair(given.Certificate, given.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	if given.Group != "" {
		config.CurvePreferences = []tls.CurveID{groups[given.Group]}
	}
	return config, nil
}
